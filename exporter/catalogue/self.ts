import { cycleResults, cycleStages, otlpItems, otlpResults } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

/** The state of Fairlead itself. */
export const selfMetrics = {
  fairlead_build_info: {
    unit: "info",
    help: "Version of Fairlead and of the Node.js that runs it.",
    labels: ["cluster", "version", "node_version"],
  },
  fairlead_replicas: {
    unit: "count",
    help: "Replicas of Fairlead that its configuration says there are.",
    labels: ["cluster"],
  },
  fairlead_last_cycle_timestamp_seconds: {
    unit: "seconds",
    help: "When the last complete cycle ended, in seconds since the epoch; absent before the first one.",
    labels: ["cluster"],
  },
  fairlead_cycles_total: {
    unit: "count",
    help: "Cycles since the start, by how they ended.",
    labels: ["cluster", "result"],
    values: { result: cycleResults },
  },
  fairlead_cycle_duration_seconds: {
    unit: "seconds",
    help: "Duration of each stage of the last complete cycle.",
    labels: ["cluster", "stage"],
    values: { stage: cycleStages },
    stability: "alpha",
  },
  fairlead_series_dropped: {
    unit: "count",
    help: "Series of this page that the budget limits.series cut, or that had the same labels as another.",
    labels: ["cluster"],
    stability: "alpha",
  },
  fairlead_teams_folded: {
    unit: "count",
    help: "Teams of this page that share the team label value other, by limits.teams or limits.series.",
    labels: ["cluster"],
    stability: "alpha",
  },
  fairlead_queues_folded: {
    unit: "count",
    help: "Queues of this page that share the queue label value other, by limits.teams or limits.series; each domain of a queue counts.",
    labels: ["cluster"],
    stability: "alpha",
  },
  fairlead_otlp_exported_total: {
    unit: "count",
    help: "Data points and spans given to the OTLP endpoint since the start, by how that ended; absent without OpenTelemetry output.",
    labels: ["cluster", "item", "result"],
    values: { item: otlpItems, result: otlpResults },
    stability: "alpha",
  },
} as const satisfies MetricArea;
