import type { QueueView } from "./queueing.ts";

/**
 * Index of the queue at the top of the tree that a queue is in, below the root of its system: for Kueue the root cohort,
 * otherwise the queue itself.
 */
export function topQueue(queues: readonly QueueView[], index: number): number {
  let top = index;
  for (let next = queues[index]?.parent ?? null; next !== null; ) {
    const above = queues[next];
    if (above === undefined || above.kind === "Scheduler") break;
    top = next;
    next = above.parent;
  }
  return top;
}
