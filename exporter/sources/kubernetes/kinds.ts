import type { ObjectKind } from "../../model/cluster.ts";
import type { OptionalRight } from "./rights.ts";

/** A kind that Fairlead lists and watches, as the API names it. */
export interface WatchedKind {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Versions that the decoder reads, best first. */
  readonly versions: readonly [string, ...string[]];
  /** The plural name of the kind, as in a path and in a role. */
  readonly resource: string;
  /** Whether a cluster may lack the kind. */
  readonly optional: boolean;
  /** The optional right that its `list` and `watch` belong to; `null` if every installation has them. */
  readonly right: OptionalRight | null;
}

export type WatchedKindName = Exclude<ObjectKind, "owners">;

const core = { group: "", versions: ["v1"], optional: false, right: null } as const;
const claims = {
  group: "resource.k8s.io",
  versions: ["v1", "v1beta2", "v1beta1"],
  optional: true,
  right: "dynamicResourceAllocation",
} as const;
const kueue = { group: "kueue.x-k8s.io", versions: ["v1beta2", "v1beta1"], optional: true, right: "kueue" } as const;
const kai = { group: "scheduling.run.ai", optional: true, right: "kai" } as const;
const volcano = {
  group: "scheduling.volcano.sh",
  versions: ["v1beta1"],
  optional: true,
  right: "volcano",
} as const;

/** A cluster has these where the feature gate GenericWorkload is on. */
const native = { group: "scheduling.k8s.io", optional: true, right: null } as const;

const coscheduling = {
  group: "scheduling.x-k8s.io",
  versions: ["v1alpha1"],
  optional: true,
  right: "coscheduling",
} as const;

const autoscaler = { optional: true, right: "autoscalers" } as const;

/**
 * All kinds that are listed and watched. The ClusterRole (deploy/rights) allows exactly these and the owners of
 * `ownerKinds.ts`.
 */
export const watchedKinds = {
  nodes: { ...core, resource: "nodes" },
  pods: { ...core, resource: "pods" },
  namespaces: { ...core, resource: "namespaces" },
  priorityClasses: { ...core, group: "scheduling.k8s.io", resource: "priorityclasses" },
  podDisruptionBudgets: { ...core, group: "policy", resource: "poddisruptionbudgets" },
  horizontalPodAutoscalers: {
    ...autoscaler,
    group: "autoscaling",
    versions: ["v2"],
    resource: "horizontalpodautoscalers",
  },
  scaledObjects: { ...autoscaler, group: "keda.sh", versions: ["v1alpha1"], resource: "scaledobjects" },
  verticalPodAutoscalers: {
    ...autoscaler,
    group: "autoscaling.k8s.io",
    versions: ["v1"],
    resource: "verticalpodautoscalers",
  },
  resourceClaims: { ...claims, resource: "resourceclaims" },
  resourceSlices: { ...claims, resource: "resourceslices" },
  deviceTaintRules: { ...claims, versions: ["v1", "v1beta2", "v1alpha3"], resource: "devicetaintrules" },
  kueueClusterQueues: { ...kueue, resource: "clusterqueues" },
  kueueLocalQueues: { ...kueue, resource: "localqueues" },
  kueueCohorts: { ...kueue, versions: [...kueue.versions, "v1alpha1"], resource: "cohorts" },
  kueueResourceFlavors: { ...kueue, resource: "resourceflavors" },
  kueueWorkloads: { ...kueue, resource: "workloads" },
  kueueWorkloadPriorityClasses: { ...kueue, resource: "workloadpriorityclasses" },
  kueueAdmissionChecks: { ...kueue, resource: "admissionchecks" },
  kueueTopologies: { ...kueue, versions: [...kueue.versions, "v1alpha1"], resource: "topologies" },
  kaiQueues: { ...kai, versions: ["v2"], resource: "queues" },
  kaiPodGroups: { ...kai, versions: ["v2alpha2"], resource: "podgroups" },
  kaiSchedulingShards: { ...kai, group: "kai.scheduler", versions: ["v1"], resource: "schedulingshards" },
  kaiTopologies: { ...kai, group: "kai.scheduler", versions: ["v1alpha1"], resource: "topologies" },
  volcanoQueues: { ...volcano, resource: "queues" },
  volcanoPodGroups: { ...volcano, resource: "podgroups" },
  volcanoHyperNodes: { ...volcano, group: "topology.volcano.sh", versions: ["v1alpha1"], resource: "hypernodes" },
  nativePodGroups: { ...native, versions: ["v1beta1", "v1alpha3", "v1alpha2"], resource: "podgroups" },
  nativeWorkloads: { ...native, versions: ["v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"], resource: "workloads" },
  coschedulingPodGroups: { ...coscheduling, resource: "podgroups" },
  resourceQuotas: { ...core, resource: "resourcequotas" },
  limitRanges: { ...core, resource: "limitranges" },
  karpenterNodePools: {
    group: "karpenter.sh",
    versions: ["v1", "v1beta1"],
    resource: "nodepools",
    optional: true,
    right: "karpenter",
  },
  persistentVolumeClaims: { ...core, resource: "persistentvolumeclaims", right: "volumes" },
  persistentVolumes: { ...core, resource: "persistentvolumes", right: "volumes" },
} as const satisfies Readonly<Record<WatchedKindName, WatchedKind>>;

/** One value for each kind that is watched. */
export type ByKind<Value> = Readonly<Record<WatchedKindName, Value>>;

/** The names of all kinds that are watched. */
export const watchedKindNames: readonly WatchedKindName[] = Object.keys(watchedKinds).filter(isWatched);

function isWatched(name: string): name is WatchedKindName {
  return Object.hasOwn(watchedKinds, name);
}

/** Makes one value for each kind that is watched. */
export function byKind<Value>(make: (kind: WatchedKindName) => Value): ByKind<Value> {
  const made: Partial<Record<WatchedKindName, Value>> = {};
  for (const name of watchedKindNames) made[name] = make(name);
  if (!hasAll(made)) throw new Error("a kind that is watched was left out");
  return made;
}

function hasAll<Value>(made: Partial<ByKind<Value>>): made is ByKind<Value> {
  return watchedKindNames.every((name) => Object.hasOwn(made, name));
}

/** Path of a group and version: `/api/v1`, `/apis/batch/v1`. */
export function groupVersionPath(group: string, version: string): string {
  const [safeGroup, safeVersion] = [encodeURIComponent(group), encodeURIComponent(version)];
  return group === "" ? `/api/${safeVersion}` : `/apis/${safeGroup}/${safeVersion}`;
}
