import type { GangMembers } from "./gangMembers.ts";
import type { QueueDraft } from "./queueDrafts.ts";
import type { QueueingInput } from "./queueingInput.ts";

/**
 * Counts what leaves hold by the priority by which their scheduler would take it: that of the object of the queue system, else
 * of the pod. GPUs by request; pods with an unknown number count as nothing.
 */
export function countPriorities(
  gangs: readonly GangMembers[],
  { pods }: Pick<QueueingInput, "pods">,
  leafOfPod: Int32Array,
  queues: readonly QueueDraft[],
): void {
  const byLeaf = new Map<QueueDraft, Map<number, number>>();
  const reported = new Map<number, number>();
  for (const { gang, bound } of gangs) for (const pod of bound) reported.set(pod, gang.priority);
  for (let index = 0; index < pods.length; index++) {
    const queue = queues[leafOfPod[index] ?? -1];
    const view = queue === undefined ? undefined : pods[index];
    if (queue === undefined || view?.status !== "allocated") continue;
    const { priority, gpus } = view;
    const own = reported.get(index) ?? priority;
    const known = byLeaf.get(queue);
    if (known === undefined) byLeaf.set(queue, new Map([[own, gpus ?? 0]]));
    else known.set(own, (known.get(own) ?? 0) + (gpus ?? 0));
  }
  for (const [queue, priorities] of byLeaf)
    queue.allocatedByPriority = [...priorities]
      .map(([priority, gpus]) => ({ priority, gpus }))
      .sort((a, b) => a.priority - b.priority);
}
