import { cycleResults, cycleStages, otlpItems, otlpResults } from "../../catalogue/labels.ts";
import type { selfMetrics } from "../../catalogue/self.ts";
import type { Producers } from "../family.ts";

/** How Fairlead itself is doing: known even when nothing else is. */
export const selfProducers: Producers<keyof typeof selfMetrics> = {
  fairlead_build_info: ({ health: { cluster, version } }) => [
    { labels: { cluster, version, node_version: process.versions.node }, value: 1 },
  ],
  fairlead_replicas: ({ health: { cluster, replicas } }) => [{ labels: { cluster }, value: replicas }],
  fairlead_last_cycle_timestamp_seconds: ({ health: { cluster, lastCycleAt } }) =>
    lastCycleAt === null ? [] : [{ labels: { cluster }, value: lastCycleAt }],
  fairlead_cycles_total: ({ health: { cluster, cycles } }) =>
    cycleResults.map((result) => ({ labels: { cluster, result }, value: cycles[result] })),
  fairlead_cycle_duration_seconds: ({ health: { cluster, stageSeconds } }) =>
    cycleStages.flatMap((stage) => {
      const value = stageSeconds[stage];
      return value === undefined ? [] : [{ labels: { cluster, stage }, value }];
    }),
  fairlead_series_dropped: ({ health: { cluster }, outcome }) => [
    { labels: { cluster }, value: outcome.seriesDropped },
  ],
  fairlead_teams_folded: ({ health: { cluster }, outcome }) => [{ labels: { cluster }, value: outcome.teamsFolded }],
  fairlead_queues_folded: ({ health: { cluster }, outcome }) => [{ labels: { cluster }, value: outcome.queuesFolded }],
  fairlead_otlp_exported_total: ({ health: { cluster, otlp } }) =>
    otlp === undefined
      ? []
      : otlpItems.flatMap((item) =>
          otlpResults.map((result) => ({ labels: { cluster, item, result }, value: otlp[item][result] })),
        ),
};
