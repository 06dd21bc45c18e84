import type { Workload } from "../cluster/world.ts";
import type { QueueSystemName } from "./spec.ts";

/** How one system decides who may have GPUs. Asked anew whenever something was admitted. */
export interface QueueRules {
  readonly system: QueueSystemName;
  /** Waiting work in the order in which it is looked at now. */
  order(waiting: readonly Workload[], running: readonly Workload[]): readonly Workload[];
  /** Whether quota (and, where the system looks at nodes, free GPUs) allows it beside what runs. */
  allows(workload: Workload, running: readonly Workload[]): boolean;
  /** Running work that may be evicted for it, first to go first; empty where it may take nothing back. */
  victims(
    workload: Workload,
    running: readonly Workload[],
  ): readonly { readonly workload: Workload; readonly reason: string }[];
  /** Whether those behind it in its queue wait with it. */
  blocksQueue(workload: Workload): boolean;
}

/** The later it was admitted and the lower its priority, the sooner it is evicted. */
export function byCheapest(priorityOf: (workload: Workload) => number): (a: Workload, b: Workload) => number {
  return (a, b) =>
    priorityOf(a) - priorityOf(b) || (b.admittedTime ?? 0) - (a.admittedTime ?? 0) || b.serial - a.serial;
}
