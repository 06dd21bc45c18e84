import type { GangMembers } from "./gangMembers.ts";
import type { QueueDraft } from "./queueDrafts.ts";
import type { QueueingInput } from "./queueingInput.ts";

interface PriorityAmount {
  readonly priority: number;
  gpus: number;
}

/**
 * Counts what leaves hold by the priority by which their scheduler would take it: that of the object of the queue system, else
 * that of the pod. GPUs are counted by request; pods with an unknown number of GPUs count as nothing.
 */
export function countPriorities(
  begun: readonly GangMembers[],
  { pods }: Pick<QueueingInput, "pods">,
  leafOfPod: Int32Array,
  queues: readonly QueueDraft[],
): void {
  const byLeaf: (PriorityAmount[] | undefined)[] = new Array(queues.length).fill(undefined);
  const reported = new Map<number, number>();
  for (const { gang, bound } of begun) for (const pod of bound) reported.set(pod, gang.priority);
  for (let index = 0; index < pods.length; index++) {
    const leaf = leafOfPod[index] ?? -1;
    const view = leaf === -1 ? undefined : pods[index];
    if (view?.status !== "allocated") continue;
    const own = reported.get(index) ?? view.priority;
    const gpus = view.gpus ?? 0;
    const known = byLeaf[leaf];
    if (known === undefined) byLeaf[leaf] = [{ priority: own, gpus }];
    else addTo(known, own, gpus);
  }
  for (let leaf = 0; leaf < byLeaf.length; leaf++) {
    const queue = queues[leaf];
    const found = byLeaf[leaf];
    if (queue !== undefined && found !== undefined)
      queue.allocatedByPriority = found.sort((a, b) => a.priority - b.priority);
  }
}

/** Mostly a queue has work of a few priorities. */
function addTo(amounts: PriorityAmount[], priority: number, gpus: number): void {
  for (const one of amounts)
    if (one.priority === priority) {
      one.gpus += gpus;
      return;
    }
  amounts.push({ priority, gpus });
}
