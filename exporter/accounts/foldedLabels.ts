import type { GpuSecondsLabels } from "./counters.ts";
import { other, shared } from "./seriesTable.ts";

/** The labels under which a series counts that has no place of its own. */
export const foldedLabels = (l: GpuSecondsLabels): GpuSecondsLabels => ({
  state: l.state,
  team: shared(l.team),
  queue: shared(l.queue),
  pool: l.pool,
  capacityType: l.capacityType,
  priorityClass: shared(l.priorityClass),
});

/** The same where even these have no place. */
export const leastLabels = (l: GpuSecondsLabels): GpuSecondsLabels => ({
  state: l.state,
  team: shared(l.team),
  queue: shared(l.team),
  pool: other,
  capacityType: other,
  priorityClass: shared(l.team),
});
