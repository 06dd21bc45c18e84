import type { Workload } from "../cluster/world.ts";
import { askedGpus } from "./membership.ts";
import type { QueueSystemName } from "./spec.ts";

/** Running work that is to be evicted. */
export interface Victim {
  readonly workload: Workload;
  readonly reason: string;
}

/** How one system decides who may have GPUs. It is asked anew whenever work was admitted. */
export interface QueueRules {
  readonly system: QueueSystemName;
  /** The waiting work, in the order in which the system looks at it now. */
  order(waiting: readonly Workload[], running: readonly Workload[]): readonly Workload[];
  /** Whether quota (and, where the system looks at nodes, free GPUs) allows the workload beside what runs. */
  allows(workload: Workload, running: readonly Workload[]): boolean;
  /** Running work that may be evicted for the workload, in the order of eviction; empty where it may take nothing back. */
  victims(workload: Workload, running: readonly Workload[]): readonly Victim[];
  /** Whether the workloads behind it in its queue must wait, too. */
  blocksQueue(workload: Workload): boolean;
}

/** The order of eviction: the lower the priority of work, and the later it was admitted, the sooner it is evicted. */
export function byCheapest(priorityOf: (workload: Workload) => number): (a: Workload, b: Workload) => number {
  return (a, b) =>
    priorityOf(a) - priorityOf(b) || (b.admittedTime ?? 0) - (a.admittedTime ?? 0) || b.serial - a.serial;
}

/**
 * Running work that is taken back, in the order given, until `missing` GPUs are free; empty where all of it is not enough.
 * `mayTake` is asked about each, with the running work that would be left.
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
