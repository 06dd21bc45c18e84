import type { Pod } from "../../../model/pod.ts";
import type { Eviction, QueueScheduler } from "../../../model/queues/eviction.ts";
import { podAnnotations, podLabels, schedulerNames } from "../../../model/wellKnown.ts";

/** The unit that is evicted with a pod: its group, or only the pod. */
export interface PodGang {
  /** The key of the group; see `groupKey`. */
  readonly key: string;
  readonly scheduler: QueueScheduler;
  readonly kind: "PodGroup" | "Pod";
  readonly name: string;
  /** The uid of the pod; `namespace/name` of a group, because its pods do not contain its uid. */
  readonly uid: string;
  readonly queue: string | null;
  readonly priorityClass: string | null;
}

/**
 * Whether a scheduler places the pod. Anybody can write the name of a queue, so it only counts for pods that the queue's
 * scheduler places; for others the group's object decides.
 */
const isOf = (scheduler: keyof typeof schedulerNames, { schedulerName }: Pod): boolean =>
  schedulerNames[scheduler].some((name) => name === schedulerName);

export function podGang(pod: Pod): PodGang {
  const { annotations, labels, namespace } = pod;
  const priorityClass = pod.priorityClassName;
  const kaiGroup = annotations[podAnnotations.kaiPodGroup];
  if (kaiGroup !== undefined) {
    const named = labels[podLabels.kaiQueue] ?? labels[podLabels.runaiQueue] ?? null;
    const queue = isOf("kai", pod) ? named : null;
    return ofGroup("kai", namespace, kaiGroup, queue, labels[podLabels.kaiPriorityClass] ?? priorityClass);
  }
  const volcanoGroup = annotations[podAnnotations.volcanoGroup] ?? annotations[podAnnotations.podGroup];
  const volcanoName = isOf("volcano", pod) ? volcanoQueue(pod) : null;
  if (volcanoGroup !== undefined) return ofGroup("volcano", namespace, volcanoGroup, volcanoName, priorityClass);
  const { uid, name } = pod;
  return { key: uid, scheduler: "none", kind: "Pod", name, uid, queue: null, priorityClass };
}

function ofGroup(
  scheduler: QueueScheduler,
  namespace: string,
  name: string,
  queue: string | null,
  priorityClass: string | null,
): PodGang {
  return {
    key: groupKey(namespace, name),
    scheduler,
    kind: "PodGroup",
    name,
    uid: `${namespace}/${name}`,
    queue,
    priorityClass,
  };
}

/** The key of a group, made of what its pods contain about it. */
export function groupKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function volcanoQueue({ labels, annotations }: Pod): string | null {
  const { volcanoQueue, volcanoJobQueue } = podAnnotations;
  return annotations[volcanoQueue] ?? annotations[volcanoJobQueue] ?? labels[podLabels.volcanoQueue] ?? null;
}

const kaiPreemptor = /^Pod \S+ was preempted by (higher priority )?workload ([^\s/]{1,253}\/[^\s/]{1,253}?)\.?(?:\s|$)/;
const kaiConsolidation = /resource consolidation/;
/** Older versions wrote "have". */
const kaiStale = /^Workload doesn't (?:meet|have) the minimum required number of pods/;

/** What the message of the pod's condition shows: KAI names the work that took the place; kube-scheduler and Volcano do not. */
export function preemptionWords(
  scheduler: QueueScheduler,
  message: string,
): Pick<Eviction, "reason" | "isPreemption" | "preemptor"> {
  if (scheduler !== "kai") return { reason: "PreemptionByScheduler", isPreemption: true, preemptor: null };
  if (kaiStale.test(message)) return { reason: "StaleGang", isPreemption: false, preemptor: null };
  if (kaiConsolidation.test(message)) return { reason: "Consolidated", isPreemption: false, preemptor: null };
  const found = kaiPreemptor.exec(message);
  if (found === null) return { reason: "Evicted", isPreemption: true, preemptor: null };
  return {
    reason: found[1] === undefined ? "Reclaimed" : "Preempted",
    isPreemption: true,
    preemptor: found[2] ?? null,
  };
}
