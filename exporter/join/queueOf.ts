import type { OwnerObject } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";
import { podAnnotations, podLabels } from "../model/wellKnown.ts";

const queueLabels = [
  podLabels.kueueClusterQueue,
  podLabels.kueueLocalQueue,
  podLabels.kueueQueue,
  podLabels.kaiQueue,
  podLabels.runaiQueue,
  podLabels.volcanoQueue,
  podLabels.yunikornQueue,
] as const;

const queueAnnotations = [podAnnotations.volcanoQueue, podAnnotations.yunikornQueue] as const;

/**
 * The queue that a pod, or the first of its owners, names; `null` where none does. Anybody can write these names: they are
 * for a queue only in a cluster of which no queue is known.
 */
export function queueOf(pod: Pod, owners: readonly OwnerObject[]): string | null {
  for (const object of [pod, ...owners]) {
    for (const label of queueLabels) {
      const queue = object.labels[label];
      if (queue !== undefined && queue !== "") return queue;
    }
    for (const annotation of queueAnnotations) {
      const queue = object.annotations[annotation];
      if (queue !== undefined && queue !== "") return queue;
    }
  }
  return null;
}
