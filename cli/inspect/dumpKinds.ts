import { apiGroup } from "../../exporter/model/apiGroup.ts";
import type { WatchedKindName } from "../../exporter/sources/kubernetes/kinds.ts";

/** Kinds of Kubernetes itself, by their name alone: files written by hand often leave `apiVersion` out. */
const ownKinds: ReadonlyMap<string, WatchedKindName> = new Map([
  ["Node", "nodes"],
  ["Pod", "pods"],
  ["Namespace", "namespaces"],
  ["PriorityClass", "priorityClasses"],
  ["PodDisruptionBudget", "podDisruptionBudgets"],
  ["HorizontalPodAutoscaler", "horizontalPodAutoscalers"],
  ["ResourceClaim", "resourceClaims"],
  ["ResourceSlice", "resourceSlices"],
  ["ResourceQuota", "resourceQuotas"],
  ["LimitRange", "limitRanges"],
  ["DeviceTaintRule", "deviceTaintRules"],
  ["PersistentVolumeClaim", "persistentVolumeClaims"],
  ["PersistentVolume", "persistentVolumes"],
]);

/** Kinds of queue systems, autoscalers and native gangs, by name and group, because several groups use the same names. */
const groupKinds: ReadonlyMap<string, WatchedKindName> = new Map([
  ["ScaledObject.keda.sh", "scaledObjects"],
  ["VerticalPodAutoscaler.autoscaling.k8s.io", "verticalPodAutoscalers"],
  ["ClusterQueue.kueue.x-k8s.io", "kueueClusterQueues"],
  ["LocalQueue.kueue.x-k8s.io", "kueueLocalQueues"],
  ["Cohort.kueue.x-k8s.io", "kueueCohorts"],
  ["ResourceFlavor.kueue.x-k8s.io", "kueueResourceFlavors"],
  ["Workload.kueue.x-k8s.io", "kueueWorkloads"],
  ["WorkloadPriorityClass.kueue.x-k8s.io", "kueueWorkloadPriorityClasses"],
  ["AdmissionCheck.kueue.x-k8s.io", "kueueAdmissionChecks"],
  ["Queue.scheduling.run.ai", "kaiQueues"],
  ["PodGroup.scheduling.run.ai", "kaiPodGroups"],
  ["SchedulingShard.kai.scheduler", "kaiSchedulingShards"],
  ["Topology.kueue.x-k8s.io", "kueueTopologies"],
  ["Topology.kai.scheduler", "kaiTopologies"],
  ["Queue.scheduling.volcano.sh", "volcanoQueues"],
  ["PodGroup.scheduling.volcano.sh", "volcanoPodGroups"],
  ["HyperNode.topology.volcano.sh", "volcanoHyperNodes"],
  ["PodGroup.scheduling.k8s.io", "nativePodGroups"],
  ["Workload.scheduling.k8s.io", "nativeWorkloads"],
  ["PodGroup.scheduling.x-k8s.io", "coschedulingPodGroups"],
  ["NodePool.karpenter.sh", "karpenterNodePools"],
]);

/** The kind that a cycle would read an object as; `null` for one that it would not read. */
export function watchedKindOf(kind: string, apiVersion: string): WatchedKindName | null {
  return ownKinds.get(kind) ?? groupKinds.get(`${kind}.${apiGroup(apiVersion)}`) ?? null;
}

/** The name of one object of a kind, in small letters: `poddisruptionbudget`. */
export function singularOf(kind: WatchedKindName): string {
  const [name = ""] = [...ownKinds, ...groupKinds].find(([, watched]) => watched === kind) ?? [];
  return (name.split(".")[0] ?? "").toLowerCase();
}
