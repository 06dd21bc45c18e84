import { cycleResults, cycleStages, otlpItems, otlpResults } from "../../catalogue/labels.ts";
import type { selfMetrics } from "../../catalogue/self.ts";
import type { Producers } from "../family.ts";

/** How Fairlead itself is doing: known even when nothing else is. */
export const selfProducers: Producers<keyof typeof selfMetrics> = {
  fairlead_build_info: ({ health: { version } }) => [
    { labels: { version, node_version: process.versions.node }, value: 1 },
  ],
  fairlead_replicas: ({ health: { replicas } }) => [{ labels: {}, value: replicas }],
  fairlead_last_cycle_timestamp_seconds: ({ health: { lastCycleAt } }) => [{ labels: {}, value: lastCycleAt }],
  fairlead_cycles_total: ({ health: { cycles } }) =>
    cycleResults.map((result) => ({ labels: { result }, value: cycles[result] })),
  fairlead_cycle_duration_seconds: ({ health: { stageSeconds } }) =>
    cycleStages.map((stage) => ({ labels: { stage }, value: stageSeconds[stage] })),
  fairlead_series_dropped: ({ outcome }) => [{ labels: {}, value: outcome.seriesDropped }],
  fairlead_teams_folded: ({ outcome }) => [{ labels: {}, value: outcome.teamsFolded }],
  fairlead_queues_folded: ({ outcome }) => [{ labels: {}, value: outcome.queuesFolded }],
  fairlead_otlp_exported_total: ({ health: { otlp } }) =>
    otlpItems.flatMap((item) =>
      otlpResults.map((result) => ({ labels: { item, result }, value: otlp?.[item][result] })),
    ),
};
