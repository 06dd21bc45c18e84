import { innerMap } from "../../kernel/innerMap.ts";
import { once } from "../../kernel/once.ts";
import type { OwnerObject } from "../../model/cluster.ts";
import type { TextMap } from "../../model/node.ts";
import type { KueueWorkload } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import { byNamespace } from "./byNamespace.ts";
import type { QueueFinder, QueueRef } from "./queueSystem.ts";

/** The objects of Kueue that determine a pod's queue. */
export type KueueQueueObjects = Pick<QueueObjects, "kueueLocalQueues" | "kueueWorkloads">;

/**
 * Finds the ClusterQueue of a pod, best evidence first: the admitted Workload that its annotation names or that was made for
 * one of its owners; Kueue's own label on the pod, where a LocalQueue of its namespace leads to the ClusterQueue that it names
 * (anybody can write that label); the LocalQueue of a Workload that waits; the LocalQueue that the pod or the nearest owner
 * names. All of them are of the pod's own namespace. The same queue is the same object.
 */
export function kueueFinder(objects: KueueQueueObjects): QueueFinder {
  const refs = new Map<string, Map<string | null, QueueRef>>();
  const refOf = (name: string, localQueue: string | null): QueueRef => {
    const ofName = innerMap(refs, name);
    const known = ofName.get(localQueue);
    if (known !== undefined) return known;
    const ref = { scheduler: "kueue" as const, name, localQueue };
    ofName.set(localQueue, ref);
    return ref;
  };
  const localQueues = new Map<string, Map<string, string>>();
  const leadsTo = new Map<string, Set<string>>();
  for (const { namespace, name, clusterQueue } of objects.kueueLocalQueues) {
    innerMap(localQueues, namespace).set(name, clusterQueue);
    leadsTo.set(namespace, (leadsTo.get(namespace) ?? new Set()).add(clusterQueue));
  }
  const byLocalQueue = (namespace: string, localQueue: string): QueueRef | null => {
    const clusterQueue = localQueues.get(namespace)?.get(localQueue);
    return clusterQueue === undefined ? null : refOf(clusterQueue, localQueue);
  };
  const byAdmission = (workload: KueueWorkload | undefined): QueueRef | null =>
    workload === undefined || workload.admission === null
      ? null
      : refOf(workload.admission.clusterQueue, workload.localQueue);
  // Pods of namespaces with a single ClusterQueue that have its label need neither.
  const byNamedWorkload = once(() => workloadsByName(objects.kueueWorkloads));
  const byOwner = once(() => byNamespace(objects.kueueWorkloads, ({ namespace }) => namespace, workloadsByOwner));
  return (pod, owners) => {
    const { labels, namespace } = pod;
    const open = leadsTo.get(namespace);
    const labelled = open?.has(labels[podLabels.kueueClusterQueue] ?? "")
      ? refOf(labels[podLabels.kueueClusterQueue] ?? "", labels[podLabels.kueueLocalQueue] ?? queueName(labels))
      : null;
    if (labelled !== null && open?.size === 1) return labelled;
    const name = pod.annotations[podAnnotations.kueueWorkload];
    const named = name === undefined ? undefined : byNamedWorkload().get(namespace)?.get(name);
    const owned = workloadOfOwners(pod, owners, byOwner()(namespace));
    const found = byAdmission(named) ?? byAdmission(owned) ?? labelled;
    if (found !== null) return found;
    const waiting = named ?? owned;
    return (
      (waiting === undefined ? null : byLocalQueue(namespace, waiting.localQueue)) ??
      byNamedQueue(namespace, [pod, ...owners], byLocalQueue)
    );
  };
}

function workloadsByName(workloads: readonly KueueWorkload[]): ReadonlyMap<string, ReadonlyMap<string, KueueWorkload>> {
  const byName = new Map<string, Map<string, KueueWorkload>>();
  for (const workload of workloads) innerMap(byName, workload.namespace).set(workload.name, workload);
  return byName;
}

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
  byOwner: ReadonlyMap<string, KueueWorkload> | undefined,
): KueueWorkload | undefined {
  if (byOwner === undefined) return undefined;
  const own = byOwner.get(pod.uid) ?? (pod.owner === null ? undefined : byOwner.get(pod.owner.uid));
  if (own !== undefined) return own;
  for (const owner of owners) {
    const found = byOwner.get(owner.uid) ?? (owner.owner === null ? undefined : byOwner.get(owner.owner.uid));
    if (found !== undefined) return found;
  }
  return undefined;
}

function byNamedQueue(
  namespace: string,
  objects: readonly { readonly labels: TextMap }[],
  byLocalQueue: (namespace: string, localQueue: string) => QueueRef | null,
): QueueRef | null {
  for (const { labels } of objects) {
    const name = labels[podLabels.kueueLocalQueue] ?? queueName(labels);
    if (name !== null && name !== "") return byLocalQueue(namespace, name);
  }
  return null;
}

const queueName = (labels: TextMap): string | null => labels[podLabels.kueueQueue] ?? null;
