import type { Pod } from "../../model/pod.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { defaultScheduler, schedulerNames } from "../../model/wellKnown.ts";

/** Evidence of which schedulers run in a cluster. */
export interface SchedulerEvidence {
  /** All pods that hold or ask for GPUs. */
  readonly pods: readonly Pod[];
  readonly queues: Pick<QueueObjects, "kaiQueues" | "volcanoQueues">;
  /** Names from the configuration, setting `queues.schedulers`. */
  readonly named: readonly string[];
}

/**
 * Decides whether the scheduler that a waiting pod names exists. Anybody who can create pods can write any name, so something
 * else must confirm it: it is the one that every cluster has; the configuration names it; a condition shows that it has looked
 * at a pod (setting one requires the right to write the status of pods); it has pods of another namespace on nodes (a pod can
 * be created with a node, so those of its own prove nothing); or it is KAI or Volcano and there are queues of it, which are
 * objects of the whole cluster.
 */
export function schedulersAtWork(evidence: SchedulerEvidence): (pod: Pod) => boolean {
  let known: Found | null = null;
  return ({ schedulerName, namespace, unschedulable }) => {
    if (schedulerName === defaultScheduler || unschedulable !== undefined) return true;
    known ??= findSchedulers(evidence);
    if (known.sure.has(schedulerName)) return true;
    const bound = known.namespaces.get(schedulerName);
    return bound !== undefined && (bound.size > 1 || !bound.has(namespace));
  };
}

interface Found {
  readonly sure: ReadonlySet<string>;
  /** By scheduler: namespaces of pods that it has on nodes, two at most. */
  readonly namespaces: ReadonlyMap<string, ReadonlySet<string>>;
}

function findSchedulers({ pods, queues, named }: SchedulerEvidence): Found {
  const sure = new Set(named);
  if (queues.kaiQueues.length > 0) for (const name of schedulerNames.kai) sure.add(name);
  if (queues.volcanoQueues.length > 0) for (const name of schedulerNames.volcano) sure.add(name);
  const namespaces = new Map<string, Set<string>>();
  for (const { schedulerName, namespace, nodeName, unschedulable } of pods) {
    if (unschedulable !== undefined) sure.add(schedulerName);
    if (nodeName === null) continue;
    const known = namespaces.get(schedulerName);
    if (known === undefined) namespaces.set(schedulerName, new Set([namespace]));
    else if (known.size < 2) known.add(namespace);
  }
  return { sure, namespaces };
}
