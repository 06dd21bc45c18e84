import type { Queueing, QueueView } from "../../join/queues/queueing.ts";

/**
 * How many more GPUs each leaf queue may take by the limits on its way to the root, whatever the nodes have: at each step what
 * the limit leaves after what is allocated or reserved, and after quota that siblings do not lend (Kueue's `available`). A
 * queue without any limit has `Infinity`. It is computed when first needed, and remembered for the moment.
 */
export function createQueueAllowance({ queues }: Queueing): (leaf: number) => number {
  const headrooms = new Map<number, number>();
  const withheld = new Map<number, number>();

  /** The quota that the children of a queue keep for themselves and do not use. */
  const withheldIn = (index: number, queue: QueueView): number => {
    const known = withheld.get(index);
    if (known !== undefined) return known;
    const sum = queue.children.reduce((total, child) => total + unusedLocal(queues[child]), 0);
    withheld.set(index, sum);
    return sum;
  };

  return (leaf) => {
    const known = headrooms.get(leaf);
    if (known !== undefined) return known;
    let headroom = Infinity;
    let below: QueueView | undefined;
    let index: number | null = leaf;
    while (index !== null) {
      const queue: QueueView | undefined = queues[index];
      if (queue === undefined) break;
      // What belongs to no queue has no limit, because nothing sets one.
      if (queue.kind !== "Unqueued" && queue.limit !== Infinity) {
        const kept = below === undefined ? 0 : withheldIn(index, queue) - unusedLocal(below);
        headroom = Math.min(headroom, queue.limit - usedBy(queue) - kept);
      }
      below = queue;
      index = queue.parent;
    }
    headrooms.set(leaf, headroom);
    return headroom;
  };
}

const usedBy = ({ allocated, reserved }: QueueView): number => Math.max(allocated, reserved ?? 0);

function unusedLocal(queue: QueueView | undefined): number {
  if (queue === undefined || queue.lendingLimit === Infinity) return 0;
  return Math.max(0, Math.max(0, queue.guaranteed - queue.lendingLimit) - usedBy(queue));
}
