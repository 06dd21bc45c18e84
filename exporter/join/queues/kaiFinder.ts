import type { OwnerObject } from "../../model/cluster.ts";
import type { Pod } from "../../model/pod.ts";
import type { KaiPodGroup } from "../../model/queues/kai.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import { groupsByOwner, isMadeFor, isPlacedBy } from "../trust/placedBy.ts";
import { queueRefs } from "./queueRefs.ts";
import type { QueueFinder } from "./queueSystem.ts";

/** The queue of KAI's pods that name none (`DefaultQueueName` of the pod grouper). */
const defaultQueue = "default-queue";

/** The PodGroup that a pod's annotation names, as `namespace/name`, whether it exists or not; `null` without the annotation. */
export function kaiGroupKey(pod: Pod): string | null {
  const name = pod.annotations[podAnnotations.kaiPodGroup];
  return name === undefined ? null : `${pod.namespace}/${name}`;
}

/** Finds the PodGroup of a pod: the one that was made for it, or else the one that its annotation names. */
function kaiPodGroupFinder(
  groups: readonly KaiPodGroup[],
): (pod: Pod, owners: readonly OwnerObject[]) => KaiPodGroup | null {
  const byName = new Map(groups.map((group) => [`${group.namespace}/${group.name}`, group]));
  const madeFor = groupsByOwner(groups);
  return (pod, owners) => {
    const named = byName.get(kaiGroupKey(pod) ?? "") ?? null;
    if (named !== null && isMadeFor(named, pod, owners)) return named;
    return madeFor(pod, owners) ?? named;
  };
}

/**
 * Finds a pod's queue in the order of KAI's pod grouper (`CalcPodGroupQueue`): from its PodGroup, or else the queue label of
 * the top owner, then of the pod; else the project, with the node pool behind it. Anybody can write these labels on any pod:
 * they count for pods that KAI places, and a PodGroup for those too that it was made for. The label `project` is a common
 * word, so that it counts only if it names an existing queue.
 */
export function kaiFinder(
  objects: Pick<QueueObjects, "kaiQueues" | "kaiPodGroups">,
  settings: { readonly nodePoolLabel: string },
): QueueFinder {
  if (objects.kaiQueues.length === 0 && objects.kaiPodGroups.length === 0) return () => null;
  const refOf = queueRefs("kai");
  const podGroupOf = kaiPodGroupFinder(objects.kaiPodGroups);
  const queues = new Set(objects.kaiQueues.map((queue) => queue.name));
  return (pod, owners) => {
    const group = podGroupOf(pod, owners);
    const isKai = isPlacedBy("kai", pod);
    if (!isKai && (group === null || !isMadeFor(group, pod, owners))) return null;
    const name =
      group?.queue ??
      labelled(pod, owners, podLabels.kaiQueue) ??
      labelled(pod, owners, podLabels.runaiQueue) ??
      ofProject(pod, owners, settings.nodePoolLabel, queues) ??
      (queues.has(defaultQueue) ? defaultQueue : null);
    return name === null || name === "" ? null : refOf(name);
  };
}

function labelled(pod: Pod, owners: readonly OwnerObject[], label: string): string | null {
  return owners.at(-1)?.labels[label] || pod.labels[label] || null;
}

function ofProject(
  pod: Pod,
  owners: readonly OwnerObject[],
  nodePoolLabel: string,
  queues: ReadonlySet<string>,
): string | null {
  const project = labelled(pod, owners, podLabels.kaiProject);
  if (project === null) return null;
  const nodePool = pod.labels[nodePoolLabel];
  const queue = nodePool === undefined ? project : `${project}-${nodePool}`;
  return queues.has(queue) ? queue : null;
}
