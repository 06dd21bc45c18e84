import type { ObjectKind } from "../../model/cluster.ts";

/** A kind that Fairlead lists and watches, as the API names it. */
export interface WatchedKind {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Versions that the decoder reads, best first. */
  readonly versions: readonly [string, ...string[]];
  /** Plural name, as in a path and in a role. */
  readonly resource: string;
  /** Whether a cluster may lack it. */
  readonly optional: boolean;
}

export type WatchedKindName = Exclude<ObjectKind, "owners">;

const kueue = { group: "kueue.x-k8s.io", versions: ["v1beta2", "v1beta1"], optional: true } as const;
const volcano = { group: "scheduling.volcano.sh", versions: ["v1beta1"], optional: true } as const;

/** All that is listed and watched; `deploy/clusterrole.yaml` allows exactly this and the owners of `ownerKinds.ts`. */
export const watchedKinds = {
  nodes: { group: "", versions: ["v1"], resource: "nodes", optional: false },
  pods: { group: "", versions: ["v1"], resource: "pods", optional: false },
  namespaces: { group: "", versions: ["v1"], resource: "namespaces", optional: false },
  priorityClasses: {
    group: "scheduling.k8s.io",
    versions: ["v1"],
    resource: "priorityclasses",
    optional: false,
  },
  podDisruptionBudgets: { group: "policy", versions: ["v1"], resource: "poddisruptionbudgets", optional: false },
  resourceClaims: {
    group: "resource.k8s.io",
    versions: ["v1", "v1beta2", "v1beta1"],
    resource: "resourceclaims",
    optional: true,
  },
  resourceSlices: {
    group: "resource.k8s.io",
    versions: ["v1", "v1beta2", "v1beta1"],
    resource: "resourceslices",
    optional: true,
  },
  kueueClusterQueues: { ...kueue, resource: "clusterqueues" },
  kueueLocalQueues: { ...kueue, resource: "localqueues" },
  kueueCohorts: { ...kueue, versions: [...kueue.versions, "v1alpha1"], resource: "cohorts" },
  kueueResourceFlavors: { ...kueue, resource: "resourceflavors" },
  kueueWorkloads: { ...kueue, resource: "workloads" },
  kueueWorkloadPriorityClasses: { ...kueue, resource: "workloadpriorityclasses" },
  kaiQueues: { group: "scheduling.run.ai", versions: ["v2"], resource: "queues", optional: true },
  kaiPodGroups: { group: "scheduling.run.ai", versions: ["v2alpha2"], resource: "podgroups", optional: true },
  kaiSchedulingShards: { group: "kai.scheduler", versions: ["v1"], resource: "schedulingshards", optional: true },
  volcanoQueues: { ...volcano, resource: "queues" },
  volcanoPodGroups: { ...volcano, resource: "podgroups" },
  resourceQuotas: { group: "", versions: ["v1"], resource: "resourcequotas", optional: false },
  karpenterNodePools: {
    group: "karpenter.sh",
    versions: ["v1", "v1beta1"],
    resource: "nodepools",
    optional: true,
  },
} as const satisfies Readonly<Record<WatchedKindName, WatchedKind>>;

/** One value for each kind that is watched. */
export type ByKind<Value> = Readonly<Record<WatchedKindName, Value>>;

/** Makes one value for each kind that is watched. */
export function byKind<Value>(make: (kind: WatchedKindName) => Value): ByKind<Value> {
  return {
    nodes: make("nodes"),
    pods: make("pods"),
    namespaces: make("namespaces"),
    priorityClasses: make("priorityClasses"),
    podDisruptionBudgets: make("podDisruptionBudgets"),
    resourceClaims: make("resourceClaims"),
    resourceSlices: make("resourceSlices"),
    kueueClusterQueues: make("kueueClusterQueues"),
    kueueLocalQueues: make("kueueLocalQueues"),
    kueueCohorts: make("kueueCohorts"),
    kueueResourceFlavors: make("kueueResourceFlavors"),
    kueueWorkloads: make("kueueWorkloads"),
    kueueWorkloadPriorityClasses: make("kueueWorkloadPriorityClasses"),
    kaiQueues: make("kaiQueues"),
    kaiPodGroups: make("kaiPodGroups"),
    kaiSchedulingShards: make("kaiSchedulingShards"),
    volcanoQueues: make("volcanoQueues"),
    volcanoPodGroups: make("volcanoPodGroups"),
    resourceQuotas: make("resourceQuotas"),
    karpenterNodePools: make("karpenterNodePools"),
  };
}

/** The names of all kinds that are watched. */
export const watchedKindNames: readonly WatchedKindName[] = Object.values(byKind((kind) => kind));

/** Path of a group and version: `/api/v1`, `/apis/batch/v1`. */
export function groupVersionPath(group: string, version: string): string {
  const [safeGroup, safeVersion] = [encodeURIComponent(group), encodeURIComponent(version)];
  return group === "" ? `/api/${safeVersion}` : `/apis/${safeGroup}/${safeVersion}`;
}
