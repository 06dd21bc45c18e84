import type { WaitingGang } from "../join/queues/queueing.ts";
import type { NodeView, PodView, WorkloadView } from "../join/snapshot.ts";
import { oncePer } from "../kernel/once.ts";
import { hashOf, type TraitHash } from "../kernel/traitHash.ts";

/**
 * The hash of plain data without names. The values of labels and namespaces may be names: only their keys and numbers count.
 */
export const hashOfData = (data: unknown): TraitHash => hashOf(JSON.stringify(data, withoutNames));

function withoutNames(key: string, value: unknown): unknown {
  if (key === "values" || key === "namespaces") return Array.isArray(value) ? value.length : value;
  return key === "nodeSelector" && typeof value === "object" && value !== null ? Object.keys(value).sort() : value;
}

/** A hash of what a node is by itself, without its name and place. */
export const nodeHash = oncePer((node: NodeView): TraitHash => {
  const { name, uid, labels, devices, ...traits } = node;
  return hashOfData([traits, devices.length]);
});

/** A hash of what a pod is by itself, without its name and place. */
export const podHash = oncePer((pod: PodView): TraitHash => {
  const { uid, status, gpus, priorityClass, priority, workloadClass, idleOptOut, boundAt, createdAt } = pod;
  const { pendingSince, checkpointedAt, owner, volumeClaims, disruption, gang, needs, placement } = pod;
  return hashOfData([
    [uid === null, status, gpus, priorityClass, priority, workloadClass, idleOptOut, boundAt, createdAt],
    [pendingSince, checkpointedAt, owner?.kind, volumeClaims?.length, disruption, gang?.min, gang?.bound],
    [needs, placement],
  ]);
});

/** A hash of what a workload is by itself, without its name. */
export const workloadHash = oncePer((workload: WorkloadView): TraitHash => {
  const { kind, priorityClass, priority, workloadClass, createdAt, pods, queueObject, gang, job, owners } = workload;
  return hashOfData([
    [kind, priorityClass, priority, workloadClass, createdAt, pods.length, queueObject?.kind, gang?.min, job],
    owners.map((owner) => owner.kind),
  ]);
});

/** A hash of what a waiting gang is by itself, without its name. */
export const gangHash = oncePer((gang: WaitingGang): TraitHash => {
  const { scheduler, kind, priorityClass, priority, since, reservedAt, bound, min, pods, gpus } = gang;
  return hashOfData([
    [scheduler, kind, priorityClass, priority, since, reservedAt, bound, min, pods, gpus],
    [gang.never, gang.notReadyPods, gang.awaitsNodes],
    gang.parts.map((part) => [part.pods, part.createdPods, part.gpusPerPod, part.places?.length, part.needs]),
  ]);
});
