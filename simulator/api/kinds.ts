import type { QueueSystemName } from "../queues/spec.ts";

/** A kind of object that the simulated API server serves. */
export interface KindInfo {
  /** Plural name of the kind, as in URLs. */
  readonly resource: string;
  /** API group; empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Where the store keeps its objects: kinds of different groups may have the same plural. */
  readonly shelf: string;
  /** The queue system that brings the kind; `null`: every cluster has it. */
  readonly system: QueueSystemName | null;
  /** Custom resources repeat kind and apiVersion in each item of a list; built-in kinds do not. */
  readonly custom: boolean;
}

function kind(
  group: string,
  version: string,
  name: string,
  resource: string,
  scope: "cluster" | "namespace",
): KindInfo {
  const custom = group.endsWith(".x-k8s.io") || group === "kubeflow.org" || group === "karpenter.sh";
  return {
    resource,
    group,
    version,
    kind: name,
    namespaced: scope === "namespace",
    shelf: resource,
    system: null,
    custom,
  };
}

function queueKind(
  system: QueueSystemName,
  version: string,
  name: string,
  resource: string,
  scope: "cluster" | "namespace",
  group: string = queueGroups[system],
): KindInfo {
  const shelf = `${resource}.${group}`;
  return { resource, group, version, kind: name, namespaced: scope === "namespace", shelf, system, custom: true };
}

const queueGroups = {
  kueue: "kueue.x-k8s.io",
  kai: "scheduling.run.ai",
  volcano: "scheduling.volcano.sh",
} as const satisfies Readonly<Record<QueueSystemName, string>>;

/** All kinds, in the order of discovery. */
export const kinds = [
  kind("", "v1", "Namespace", "namespaces", "cluster"),
  kind("", "v1", "Node", "nodes", "cluster"),
  kind("", "v1", "Pod", "pods", "namespace"),
  kind("apps", "v1", "DaemonSet", "daemonsets", "namespace"),
  kind("apps", "v1", "Deployment", "deployments", "namespace"),
  kind("apps", "v1", "ReplicaSet", "replicasets", "namespace"),
  kind("apps", "v1", "StatefulSet", "statefulsets", "namespace"),
  kind("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "namespace"),
  kind("batch", "v1", "Job", "jobs", "namespace"),
  kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "namespace"),
  kind("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", "namespace"),
  kind("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", "cluster"),
  kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "cluster"),
  kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", "namespace"),
  kind("kubeflow.org", "v1", "Notebook", "notebooks", "namespace"),
  kind("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs", "namespace"),
  kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", "namespace"),
  kind("", "v1", "ResourceQuota", "resourcequotas", "namespace"),
  kind("", "v1", "LimitRange", "limitranges", "namespace"),
  kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "namespace"),
  kind("", "v1", "PersistentVolume", "persistentvolumes", "cluster"),
  kind("karpenter.sh", "v1", "NodePool", "nodepools", "cluster"),
  queueKind("kueue", "v1beta2", "ResourceFlavor", "resourceflavors", "cluster"),
  queueKind("kueue", "v1beta2", "Cohort", "cohorts", "cluster"),
  queueKind("kueue", "v1beta2", "ClusterQueue", "clusterqueues", "cluster"),
  queueKind("kueue", "v1beta2", "LocalQueue", "localqueues", "namespace"),
  queueKind("kueue", "v1beta2", "Workload", "workloads", "namespace"),
  queueKind("kueue", "v1beta2", "WorkloadPriorityClass", "workloadpriorityclasses", "cluster"),
  queueKind("kueue", "v1beta2", "AdmissionCheck", "admissionchecks", "cluster"),
  queueKind("kueue", "v1beta2", "Topology", "topologies", "cluster"),
  queueKind("kai", "v2", "Queue", "queues", "cluster"),
  queueKind("kai", "v2alpha2", "PodGroup", "podgroups", "namespace"),
  queueKind("kai", "v1", "SchedulingShard", "schedulingshards", "cluster", "kai.scheduler"),
  queueKind("volcano", "v1beta1", "Queue", "queues", "cluster"),
  queueKind("volcano", "v1beta1", "PodGroup", "podgroups", "namespace"),
] as const satisfies readonly KindInfo[];

/** The kinds of a cluster in which these queue systems are installed. */
export function servedKinds(systems: ReadonlySet<QueueSystemName>): readonly KindInfo[] {
  return kinds.filter(({ system }: KindInfo) => system === null || systems.has(system));
}

/** The `apiVersion` of a kind: `v1` or `group/version`. */
export function apiVersionOf(info: Pick<KindInfo, "group" | "version">): string {
  return info.group === "" ? info.version : `${info.group}/${info.version}`;
}

/** The name of a resource in messages: `pods`, `jobsets.jobset.x-k8s.io`. */
export function qualifiedResource(info: KindInfo): string {
  return info.group === "" ? info.resource : `${info.resource}.${info.group}`;
}

const byKind: ReadonlyMap<string, KindInfo> = new Map(
  kinds.map((info: KindInfo) => [info.system === null ? info.kind : `${info.system}/${info.kind}`, info]),
);

/**
 * The kind of this name (`kueue/Workload` for one that a queue system brings). Throws for a name that the simulator does not
 * serve, which is a mistake in its own code.
 */
export function kindInfo(name: string): KindInfo {
  const info = byKind.get(name);
  if (info === undefined) throw new Error(`simulator: kind ${name} is not in the table of kinds`);
  return info;
}
