import type { Family } from "../exporter/publish/family.ts";
import { digits, scatter, teamCount, teamName } from "./fleet/layout.ts";

/**
 * Series in the form in which dashboards read them: 20 metrics with 5 labels each. Names and values are those of one moment.
 */
export interface BenchSeries {
  readonly names: readonly string[];
  readonly labelNames: readonly ["cluster", "pool", "team", "queue", "state"];
  readonly labelSets: readonly Readonly<Record<"cluster" | "pool" | "team" | "queue" | "state", string>>[];
  readonly value: (metric: number, index: number, round: number) => number;
}

const metricCount = 20;
const states = ["active", "underutilized", "idle", "starting", "unobserved"] as const;

/** Makes series; `total` is the number of all series together. */
export function createSeries(total: number): BenchSeries {
  const each = Math.ceil(total / metricCount);
  return {
    names: Array.from({ length: metricCount }, (_, index) => `bench_metric_${digits(index, 2)}`),
    labelNames: ["cluster", "pool", "team", "queue", "state"],
    labelSets: Array.from({ length: each }, (_, index) => ({
      cluster: "bench",
      pool: `pool-${digits(Math.floor(index / (teamCount * states.length)), 4)}`,
      team: teamName(Math.floor(index / states.length) % teamCount),
      queue: `${teamName(Math.floor(index / states.length) % teamCount)}-queue`,
      state: states[index % states.length] ?? "active",
    })),
    value: (metric, index, round) => (scatter(metric * each + index + round) % 100_000) / 1000,
  };
}

/** The same series as families of the exporter. */
export function familiesOf({ names, labelNames, labelSets, value }: BenchSeries, round: number): readonly Family[] {
  return names.map((name, metric) => ({
    name,
    help: "Bench.",
    type: "gauge",
    labelNames,
    series: labelSets.map(({ cluster, pool, team, queue, state }, index) => ({
      labelValues: [cluster, pool, team, queue, state],
      value: value(metric, index, round),
    })),
  }));
}
