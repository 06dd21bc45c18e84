import type { OwnerObject } from "../../model/cluster.ts";
import type { TextMap } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { VolcanoPodGroup } from "../../model/queues/volcano.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import { groupsByOwner, isMadeFor, isPlacedBy } from "../trust/placedBy.ts";
import { queueRefs } from "./queueRefs.ts";
import type { QueueFinder } from "./queueSystem.ts";

/** The queue of groups that name none. */
export const volcanoDefaultQueue = "default";

/** The PodGroup that a pod's annotation names, as `namespace/name`, whether it exists or not; `null` without the annotation. */
export function volcanoGroupKey(pod: Pod): string | null {
  const name = pod.annotations[podAnnotations.podGroup] ?? pod.annotations[podAnnotations.volcanoGroup];
  return name === undefined ? null : `${pod.namespace}/${name}`;
}

/** Finds the PodGroup of a pod: the one that was made for it, or else the one that its annotation names. */
function volcanoPodGroupFinder(
  groups: readonly VolcanoPodGroup[],
): (pod: Pod, owners: readonly OwnerObject[]) => VolcanoPodGroup | null {
  const byName = new Map(groups.map((group) => [`${group.namespace}/${group.name}`, group]));
  const madeFor = groupsByOwner(groups);
  return (pod, owners) => {
    const named = byName.get(volcanoGroupKey(pod) ?? "") ?? null;
    if (named !== null && isMadeFor(named, pod, owners)) return named;
    return madeFor(pod, owners) ?? named;
  };
}

/**
 * Finds a pod's queue: from its PodGroup, or else the pod's own label or annotation, then those of its owners (KubeRay puts
 * the label on the RayCluster), nearest first; else the default queue. Anybody can write these names on any pod: they count
 * for pods that Volcano places, and a PodGroup for those too that it was made for.
 */
export function volcanoFinder(objects: Pick<QueueObjects, "volcanoQueues" | "volcanoPodGroups">): QueueFinder {
  if (objects.volcanoQueues.length === 0 && objects.volcanoPodGroups.length === 0) return () => null;
  const refOf = queueRefs("volcano");
  const podGroupOf = volcanoPodGroupFinder(objects.volcanoPodGroups);
  return (pod, owners) => {
    const group = podGroupOf(pod, owners);
    if (!isPlacedBy("volcano", pod)) return group !== null && isMadeFor(group, pod, owners) ? refOf(group.queue) : null;
    return refOf(group?.queue ?? named(pod, owners) ?? volcanoDefaultQueue);
  };
}

function named(pod: Pod, owners: readonly OwnerObject[]): string | null {
  for (const { labels, annotations } of [pod, ...owners]) {
    const queue = ownName(labels, annotations);
    if (queue !== null) return queue;
  }
  return null;
}

function ownName(labels: TextMap, annotations: TextMap): string | null {
  return (
    labels[podLabels.volcanoQueue] ||
    annotations[podAnnotations.volcanoJobQueue] ||
    annotations[podAnnotations.volcanoQueue] ||
    null
  );
}
