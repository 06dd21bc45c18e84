import type { KaiQueue } from "../../model/queues/kai.ts";
import type { Asked, Guard } from "./guard.ts";
import { podName } from "./guard.ts";

/**
 * KAI promises work of a queue a time in which it runs before it may be stopped for others: `preemptMinRuntime` within the
 * queue, `reclaimMinRuntime` from another. Both are inherited: the nearest queue on the way to the top that sets one decides
 * (KAI-Scheduler: pkg/scheduler/plugins/minruntime/resolver.go). For reclaim, settings choose between two ways to resolve it:
 * from the leaf up, and (`lca`, the default) from the queue just below the common ancestor; the longer time counts here.
 */
export const minRuntime: Guard = (asked) => {
  if (asked.how === "release") return [];
  const { snapshot } = asked.moment.analysis;
  const { queues, queueOfPod } = snapshot.queueing;
  return asked.pods.flatMap(({ index, pod }) => {
    const queue = queues[queueOfPod[index] ?? -1];
    if (queue?.scheduler !== "kai") return [];
    const seconds = promised(asked, queueOfPod[index] ?? -1, queue.name);
    if (seconds <= 0) return [];
    const ran = pod.boundAt === null ? null : snapshot.at - pod.boundAt;
    if (ran !== null && ran >= seconds) return [];
    const has = ran === null ? "nobody knows since when it runs" : `it has run for ${Math.floor(ran)} s`;
    return [{ pod: index, reason: `${podName(pod)} may run for ${seconds} s in queue ${queue.name}; ${has}.` }];
  });
};

function promised({ beneficiary, lookup }: Asked, queueIndex: number, name: string): number {
  const isSameQueue = beneficiary !== null && beneficiary.queue === queueIndex;
  const isOtherQueue = beneficiary !== null && beneficiary.queue !== null && !isSameQueue;
  return lookup.kaiQueues(name).reduce((longest, leaf) => {
    const path = pathOf(leaf, lookup.kaiQueues);
    const preempt = path.find(({ preemptMinRuntimeSeconds }) => preemptMinRuntimeSeconds !== null);
    // Wherever on the path the search begins, it ends at the first queue that sets one: the longest of them is the
    // upper bound.
    const reclaim = path.reduce(
      (most, { reclaimMinRuntimeSeconds }) => Math.max(most, reclaimMinRuntimeSeconds ?? 0),
      0,
    );
    const forPreempt = isOtherQueue ? 0 : (preempt?.preemptMinRuntimeSeconds ?? 0);
    const forReclaim = isSameQueue ? 0 : reclaim;
    return Math.max(longest, forPreempt, forReclaim);
  }, 0);
}

/** The queues from a leaf to the top; a cycle ends where it closes. */
function pathOf(leaf: KaiQueue, named: (name: string) => readonly KaiQueue[]): readonly KaiQueue[] {
  const path = new Set<KaiQueue>();
  let queue: KaiQueue | undefined = leaf;
  while (queue !== undefined && !path.has(queue)) {
    path.add(queue);
    const { parent, nodePool }: KaiQueue = queue;
    queue = parent === null ? undefined : named(parent).find((one) => one.nodePool === nodePool);
  }
  return [...path];
}
