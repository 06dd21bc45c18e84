import type { Problem } from "../model/problem.ts";
import type { GpuSecondsLabels } from "./counterLabels.ts";
import type { CounterLimits } from "./counters.ts";
import { other, shared } from "./seriesTable.ts";

/** The labels of the shared series in which a label set counts that has no series of its own. */
export const foldedLabels = (l: GpuSecondsLabels): GpuSecondsLabels => ({
  state: l.state,
  team: shared(l.team),
  queue: shared(l.queue),
  pool: l.pool,
  capacityType: l.capacityType,
  priorityClass: shared(l.priorityClass),
});

/** The labels of the shared series where even the folded labels have no place. */
export const leastLabels = (l: GpuSecondsLabels): GpuSecondsLabels => ({
  state: l.state,
  team: shared(l.team),
  queue: shared(l.team),
  pool: other,
  capacityType: other,
  priorityClass: shared(l.team),
});

/** The problem that accounts share their series with others; empty if none do. */
export function foldedSeries(accounts: number, limits: CounterLimits): readonly Problem[] {
  if (accounts === 0) return [];
  return [
    {
      source: "accounts",
      code: "gpu-time-folded",
      severity: "info",
      subject: "/metrics",
      message: `${accounts} accounts of GPU time share the label value "other"; the budget is ${limits.teams} teams and ${limits.series} series, and a series that was given out is kept while anybody has GPUs under its names, and for an hour after.`,
      nextStep: "Raise limits.teams or limits.series, or assign namespaces to fewer teams with the rules in teams.",
    },
  ];
}
