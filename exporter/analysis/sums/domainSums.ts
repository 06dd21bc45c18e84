import type { Queueing } from "../../join/queues/queueing.ts";
import type { AbsentOwner } from "../../model/shortfall.ts";
import type { Fairness } from "../fairness/fairness.ts";

/** Physical GPUs that pods outside every queue hold, by index into `Queueing.domains`. */
export function allocatedPastQueues({ domains, queues }: Queueing): readonly number[] {
  const allocated = domains.map(() => 0);
  for (const queue of queues)
    if (queue.kind === "Unqueued" && queue.isLeaf)
      allocated[queue.domain] = (allocated[queue.domain] ?? 0) + queue.allocated;
  return allocated;
}

/**
 * What leaves are guaranteed and wait for, but have no nodes for, by cause; by index into `Queueing.domains`. Physical GPUs.
 */
export function absentCapacity(
  { domains, queues }: Queueing,
  fairness: Fairness,
): readonly Readonly<Record<AbsentOwner, number>>[] {
  const sums = domains.map(
    (): Record<AbsentOwner, number> => ({ lost_node: 0, node_to_come: 0, past_queues: 0, promised_twice: 0 }),
  );
  for (const [index, queue] of queues.entries()) {
    const sum = queue.isLeaf ? sums[queue.domain] : undefined;
    if (sum === undefined) continue;
    for (const { owner, gpus } of fairness.queues[index]?.shortfallByAbsentCapacity ?? []) sum[owner] += gpus;
  }
  return sums;
}
