import { activitySignals } from "../model/activitySignals.ts";
import { severities } from "../model/problem.ts";
import { restartReasons } from "../model/restartReasons.ts";
import { stallUnknownReasons, telemetrySignals } from "../model/telemetrySignals.ts";
import { targetStates } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

/** How far the other numbers can be trusted. */
export const telemetryMetrics = {
  fairlead_source_up: {
    unit: "boolean",
    help: "1 if what the source must know is fresh enough to be used, else 0.",
    labels: ["cluster", "source"],
  },
  fairlead_source_age_seconds: {
    unit: "seconds",
    help: "Age of the oldest part of the source that is in use; absent if nothing of it is.",
    labels: ["cluster", "source"],
  },
  fairlead_targets: {
    unit: "count",
    help: "Telemetry targets by whether their last page is fresh.",
    labels: ["cluster", "state"],
    values: { state: targetStates },
  },
  fairlead_problems: {
    unit: "count",
    help: "Problems that exist now; the start page and /api/v1/problems name them with their next steps.",
    labels: ["cluster", "source", "code", "severity"],
    values: { severity: severities },
  },
  fairlead_kubernetes_lists_total: {
    unit: "count",
    help: "Lists of a kind that were read to their end, since the start; one each is usual.",
    labels: ["cluster", "resource"],
    stability: "alpha",
  },
  fairlead_kubernetes_watches_total: {
    unit: "count",
    help: "Watches of a kind that were opened since the start; a server ends each after four to eight minutes.",
    labels: ["cluster", "resource"],
    stability: "alpha",
  },
  fairlead_kubernetes_restarts_total: {
    unit: "count",
    help: "Watches and lists of a kind that were begun anew, by reason; closed is usual, the others are not.",
    labels: ["cluster", "resource", "reason"],
    values: { reason: restartReasons },
    stability: "alpha",
  },
  fairlead_kubernetes_answer_seconds: {
    unit: "seconds",
    help: "Slowest answer of the Kubernetes API in the last two minutes, one under way included, without the time in which Fairlead itself computed; absent without any.",
    labels: ["cluster", "resource"],
    stability: "alpha",
  },
  fairlead_samples_dropped: {
    unit: "count",
    help: "Samples on the telemetry pages in use that were dropped, by reason.",
    labels: ["cluster", "reason"],
    stability: "alpha",
  },
  fairlead_activity_signal_info: {
    unit: "info",
    help: "The telemetry signal that activity is read from in the whole cluster.",
    labels: ["cluster", "signal"],
    values: { signal: activitySignals },
  },
  fairlead_signal_gpus: {
    unit: "gpus",
    help: "Physical GPUs of the pool whose telemetry reports the signal now, allocated or not; nothing that needs a signal with 0 is known there.",
    labels: ["cluster", "pool", "signal"],
    values: { signal: telemetrySignals },
    stability: "alpha",
  },
  fairlead_stall_unknown_gpus: {
    unit: "gpus",
    help: "Allocated physical GPUs for which nothing shows whether they are stalled, by the first thing that is missing.",
    labels: ["cluster", "pool", "reason"],
    values: { reason: stallUnknownReasons },
    stability: "alpha",
  },
  fairlead_unassigned_gpus: {
    unit: "gpus",
    help: "Allocated physical GPUs that no team rule assigns.",
    labels: ["cluster"],
  },
  fairlead_estimated_gpus: {
    unit: "gpus",
    help: "Allocated physical GPUs whose device, or the split of its activity, is estimated.",
    labels: ["cluster"],
  },
  fairlead_estimated_ratio: {
    unit: "ratio",
    help: "Estimated part of the allocated GPUs; absent if none is allocated.",
    labels: ["cluster"],
  },
} as const satisfies MetricArea;
