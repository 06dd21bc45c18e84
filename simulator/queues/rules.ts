import type { Workload } from "../cluster/world.ts";
import { askedGpus } from "./membership.ts";
import type { QueueSystemName } from "./spec.ts";

/** Running work that is to be evicted. */
export interface Victim {
  readonly workload: Workload;
  readonly reason: string;
}

/** How one system decides who may have GPUs. Asked anew whenever something was admitted. */
export interface QueueRules {
  readonly system: QueueSystemName;
  /** Waiting work in the order in which it is looked at now. */
  order(waiting: readonly Workload[], running: readonly Workload[]): readonly Workload[];
  /** Whether quota (and, where the system looks at nodes, free GPUs) allows it beside what runs. */
  allows(workload: Workload, running: readonly Workload[]): boolean;
  /** Running work that may be evicted for it, first to go first; empty where it may take nothing back. */
  victims(workload: Workload, running: readonly Workload[]): readonly Victim[];
  /** Whether those behind it in its queue wait with it. */
  blocksQueue(workload: Workload): boolean;
}

/** The later it was admitted and the lower its priority, the sooner it is evicted. */
export function byCheapest(priorityOf: (workload: Workload) => number): (a: Workload, b: Workload) => number {
  return (a, b) =>
    priorityOf(a) - priorityOf(b) || (b.admittedTime ?? 0) - (a.admittedTime ?? 0) || b.serial - a.serial;
}

/**
 * Running work that is taken back, in the order given, until `missing` GPUs are free; none where all of it is not enough.
 * `mayTake` is asked of each beside what would be left of the running work.
 */
export function reclaimed(
  running: readonly Workload[],
  inOrder: (a: Workload, b: Workload) => number,
  missing: number,
  mayTake: (victim: Workload, left: readonly Workload[]) => boolean,
): readonly Victim[] {
  const chosen: Victim[] = [];
  let left = running;
  let lacking = missing;
  for (const victim of [...running].sort(inOrder)) {
    if (lacking <= 0) break;
    if (!mayTake(victim, left)) continue;
    chosen.push({ workload: victim, reason: "Reclaim" });
    left = left.filter((each) => each !== victim);
    lacking -= askedGpus(victim.spec);
  }
  return lacking <= 0 ? chosen : [];
}
