import type { QueueDraft } from "./queueDrafts.ts";

/** How much more queues may hold now, and how much they may ever hold. */
export interface Headroom {
  /** What a leaf may still get: the least of what is left below the limits on its way up. */
  readonly now: (leaf: number) => number;
  /** The most that each queue may ever hold. */
  readonly ever: Float64Array;
  /** Whether something more waits in a leaf. */
  readonly take: (leaf: number, gpus: number) => void;
}

/**
 * Reads limits and lending limits: `ever` of a child is at most its limit, its own unlent part, and what its parent may ever
 * hold without the unlent parts of all children (Kueue's potentialAvailable, pkg/cache/scheduler/resource_node.go).
 */
export function headroomIn(queues: readonly QueueDraft[]): Headroom {
  const unlentBelow = new Float64Array(queues.length);
  for (const queue of queues)
    if (queue.parent !== null) unlentBelow[queue.parent] = (unlentBelow[queue.parent] ?? 0) + unlent(queue);
  // Parents come before children. No recursion: an attacker may write a chain of thousands.
  const most = new Float64Array(queues.length);
  const left = new Float64Array(queues.length);
  // For each queue: the first queue with a limit on the way up, itself included; -1: none. Mostly few have one.
  const limited = new Int32Array(queues.length).fill(-1);
  const above = new Int32Array(queues.length).fill(-1);
  for (let i = 0; i < queues.length; i++) {
    const queue = queues[i];
    if (queue === undefined) continue;
    const { limit, parent } = queue;
    most[i] =
      parent === null ? limit : Math.min(limit, unlent(queue) + (most[parent] ?? 0) - (unlentBelow[parent] ?? 0));
    left[i] = limit - queue.allocated - queue.pending;
    above[i] = parent === null ? -1 : (limited[parent] ?? -1);
    limited[i] = limit === Number.POSITIVE_INFINITY ? (above[i] ?? -1) : i;
  }
  return {
    ever: most,
    now: (leaf) => {
      let headroom = Number.POSITIVE_INFINITY;
      for (let next = limited[leaf] ?? -1; next !== -1; next = above[next] ?? -1)
        headroom = Math.min(headroom, left[next] ?? 0);
      return headroom;
    },
    take: (leaf, gpus) => {
      for (let next = limited[leaf] ?? -1; next !== -1; next = above[next] ?? -1) left[next] = (left[next] ?? 0) - gpus;
    },
  };
}

function unlent({ guaranteed, lendingLimit }: QueueDraft): number {
  return Math.max(0, guaranteed - lendingLimit);
}
