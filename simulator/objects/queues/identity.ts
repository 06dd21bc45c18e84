import type { SimPod, Workload } from "../../cluster/world.ts";
import { podGroupName } from "../../queues/membership.ts";
import { nameSuffix, uuidFrom } from "../../random.ts";
import { type OwnerReference, timestamp } from "../kubeObject.ts";
import { topOwnerOf } from "../owners.ts";

/** The name of the Kueue Workload of a job or pod group. */
export function workloadObjectName({ spec, name, uid }: Workload): string {
  if (spec.kind === "PodGroup") return name;
  return `${spec.kind.toLowerCase()}-${name}-${nameSuffix(`workload/${uid}`)}`;
}

/** The uid of the object by which a queue system knows a workload. */
export function queueObjectUid({ uid }: Workload): string {
  return uuidFrom(`queued/${uid}`);
}

/** The controllers of the queue system's object: the top owner, or else the first pod. */
export function controllersOf(workload: Workload): readonly OwnerReference[] {
  const top = topOwnerOf(workload);
  if (top !== null) return [top];
  const [first] = workload.pods;
  return first === undefined ? [] : [podReference(first)];
}

/** Metadata of the PodGroup of a workload. */
export function podGroupMetadata(workload: Workload) {
  return {
    name: podGroupName(workload),
    namespace: workload.spec.namespace,
    uid: queueObjectUid(workload),
    creationTimestamp: timestamp(workload.createdAt),
    ownerReferences: controllersOf(workload),
  };
}

function podReference(pod: SimPod): OwnerReference {
  return { apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid, controller: true };
}
