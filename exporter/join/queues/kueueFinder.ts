import { innerMap } from "../../kernel/innerMap.ts";
import { once, oncePer } from "../../kernel/once.ts";
import type { OwnerObject } from "../../model/cluster.ts";
import type { TextMap } from "../../model/node.ts";
import type { KueueWorkload } from "../../model/queues/kueue.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import { type KueueNamespace, localQueuesIn } from "./kueueNamespaces.ts";
import type { QueueFinder, QueueRef } from "./queueSystem.ts";

/**
 * Finds the ClusterQueue of a pod, best evidence first: the admitted Workload that its annotation names or that was made for
 * one of its owners; Kueue's own label on the pod, where a LocalQueue of its namespace leads to the ClusterQueue that it names
 * (anybody can write that label); the LocalQueue of a Workload that waits; the LocalQueue that the pod or the nearest owner
 * names. All of them are of the pod's own namespace, in which the same queue is the same object.
 */
export function kueueFinder(namespaces: ReadonlyMap<string, KueueNamespace>): QueueFinder {
  return (pod, owners) => {
    const own = namespaces.get(pod.namespace);
    return own === undefined ? null : finderIn(own)(pod, owners);
  };
}

/** The finder of one namespace, which is kept while the namespace is the same object. */
const finderIn = oncePer((own: KueueNamespace): QueueFinder => {
  const { localQueues, workloads } = own;
  const refs = new Map<string, Map<string | null, QueueRef>>();
  const refOf = (name: string, localQueue: string | null): QueueRef => {
    const ofName = innerMap(refs, name);
    const known = ofName.get(localQueue);
    if (known !== undefined) return known;
    const ref = { scheduler: "kueue" as const, name, localQueue };
    ofName.set(localQueue, ref);
    return ref;
  };
  const reached = new Set(localQueues.map(({ clusterQueue }) => clusterQueue));
  const byLocalQueue = (localQueue: string): QueueRef | null => {
    const clusterQueue = localQueuesIn(own).get(localQueue)?.clusterQueue;
    return clusterQueue === undefined ? null : refOf(clusterQueue, localQueue);
  };
  const byAdmission = (workload: KueueWorkload | undefined): QueueRef | null =>
    workload === undefined || workload.admission === null
      ? null
      : refOf(workload.admission.clusterQueue, workload.localQueue);
  // Pods of namespaces with a single ClusterQueue that have its label need neither.
  const byNamedWorkload = once(() => new Map(workloads.map((workload) => [workload.name, workload] as const)));
  const byOwner = once(() => workloadsByOwner(workloads));
  return (pod, owners) => {
    const { labels } = pod;
    const labelled = reached.has(labels[podLabels.kueueClusterQueue] ?? "")
      ? refOf(labels[podLabels.kueueClusterQueue] ?? "", labels[podLabels.kueueLocalQueue] ?? queueName(labels))
      : null;
    if (labelled !== null && reached.size === 1) return labelled;
    const name = pod.annotations[podAnnotations.kueueWorkload];
    const named = name === undefined ? undefined : byNamedWorkload().get(name);
    const owned = workloadOfOwners(pod, owners, byOwner());
    const found = byAdmission(named) ?? byAdmission(owned) ?? labelled;
    if (found !== null) return found;
    const waiting = named ?? owned;
    return (
      (waiting === undefined ? null : byLocalQueue(waiting.localQueue)) ?? byNamedQueue([pod, ...owners], byLocalQueue)
    );
  };
});

/** Of several Workloads of one owner (groups of a LeaderWorkerSet) the first by name: they are in one queue. */
function workloadsByOwner(ofNamespace: readonly KueueWorkload[]): ReadonlyMap<string, KueueWorkload> {
  const byOwner = new Map<string, KueueWorkload>();
  const add = (uid: string | null | undefined, workload: KueueWorkload): void => {
    if (uid === undefined || uid === null) return;
    const known = byOwner.get(uid);
    if (known === undefined || workload.name < known.name) byOwner.set(uid, workload);
  };
  for (const workload of ofNamespace) {
    add(workload.owner?.uid, workload);
    add(workload.jobUid, workload);
  }
  return byOwner;
}

function workloadOfOwners(
  pod: Parameters<QueueFinder>[0],
  owners: readonly OwnerObject[],
  byOwner: ReadonlyMap<string, KueueWorkload>,
): KueueWorkload | undefined {
  const own = byOwner.get(pod.uid) ?? (pod.owner === null ? undefined : byOwner.get(pod.owner.uid));
  if (own !== undefined) return own;
  for (const owner of owners) {
    const found = byOwner.get(owner.uid) ?? (owner.owner === null ? undefined : byOwner.get(owner.owner.uid));
    if (found !== undefined) return found;
  }
  return undefined;
}

function byNamedQueue(
  objects: readonly { readonly labels: TextMap }[],
  byLocalQueue: (localQueue: string) => QueueRef | null,
): QueueRef | null {
  for (const { labels } of objects) {
    const name = labels[podLabels.kueueLocalQueue] ?? queueName(labels);
    if (name !== null && name !== "") return byLocalQueue(name);
  }
  return null;
}

const queueName = (labels: TextMap): string | null => labels[podLabels.kueueQueue] ?? null;
