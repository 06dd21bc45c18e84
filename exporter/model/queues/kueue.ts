import type { ResourceAmounts, Taint, TextMap } from "../node.ts";
import type { OwnerRef } from "../pod.ts";
import type { RequiredTopology } from "../topology.ts";
import type { Condition } from "./condition.ts";
import type { ObjectRevision } from "./objectRevision.ts";
import type { LabelRequirement, PodNeeds, Toleration } from "./podNeeds.ts";

/**
 * Objects of Kueue (`kueue.x-k8s.io`, v1beta2 with v1beta1 as fallback), cut down to what Fairlead uses. All amounts are
 * in base units: `cpu` in cores, `memory` in bytes, extended resources as counts.
 */

/** An entry of `spec.resourceGroups[].flavors[].resources[]`; entries are in the order in which Kueue tries the flavors. */
export interface KueueQuota {
  readonly flavor: string;
  readonly resource: string;
  readonly nominal: number;
  /** The most that may be borrowed; `null`: no limit. */
  readonly borrowingLimit: number | null;
  /** The most that may be lent; `null`: everything. */
  readonly lendingLimit: number | null;
  /** Its place in the object: `spec.resourceGroups[group].flavors[flavor].resources[resource]`; `null` when built by hand. */
  readonly place: { readonly group: number; readonly flavor: number; readonly resource: number } | null;
}

/** One entry of `status.flavorsReservation` or `status.flavorsUsage`. */
export interface KueueUsage {
  readonly flavor: string;
  readonly resource: string;
  readonly total: number;
  readonly borrowed: number;
}

/**
 * The Workloads (`namespace/name`) that wait in each ClusterQueue, by its name, in the order in which Kueue will look at them,
 * as its visibility API reported lately. Untrusted text.
 */
export type KueuePendingWorkloads = ReadonlyMap<string, readonly string[]>;

export interface KueueClusterQueue {
  readonly name: string;
  /** `spec.cohortName`; `null` without one. */
  readonly cohort: string | null;
  readonly quotas: readonly KueueQuota[];
  readonly queueingStrategy: "StrictFIFO" | "BestEffortFIFO";
  /** `spec.fairSharing.weight`, default 1. */
  readonly weight: number;
  /** `null` selects no namespace; an empty one selects all. */
  readonly namespaceSelector: {
    readonly matchLabels: TextMap;
    readonly matchExpressions: readonly LabelRequirement[];
  } | null;
  readonly preemption: {
    readonly reclaimWithinCohort: string;
    readonly withinClusterQueue: string;
    /** `borrowWithinCohort.policy`. */
    readonly borrowWithinCohort: string;
    /** `borrowWithinCohort.maxPriorityThreshold`: nothing is taken from work of a higher priority; absent: no threshold. */
    readonly borrowMaxPriority?: number;
  };
  readonly stopPolicy: string;
  /** `spec.admissionScope.admissionMode`; `null` without one. */
  readonly admissionMode: string | null;
  readonly createdAt: number | null;
  readonly reservation: readonly KueueUsage[];
  readonly usage: readonly KueueUsage[];
  readonly pendingWorkloads: number | null;
  readonly reservingWorkloads: number | null;
  readonly admittedWorkloads: number | null;
  /** `status.fairSharing.weightedShare`; `null` where fair sharing is off. The largest int64 means infinity. */
  readonly weightedShare: number | null;
  /** Condition `Active`. */
  readonly active: Condition | null;
  /** State of the object that was read; `null` or absent for one from a file without it, or built by hand. */
  readonly revision?: ObjectRevision | null;
}

export interface KueueLocalQueue {
  readonly namespace: string;
  readonly name: string;
  readonly clusterQueue: string;
  /** `spec.fairSharing.weight`, default 1: used by admission fair sharing only. */
  readonly weight: number;
  readonly stopPolicy: string;
  /** `status.fairSharing.admissionFairSharingStatus.consumedResources`; `null` where admission fair sharing is off. */
  readonly consumed: ResourceAmounts | null;
  /** The `lastUpdate` of that status, seconds since the epoch. */
  readonly consumedAt: number | null;
  readonly reservation: readonly KueueUsage[];
  readonly usage: readonly KueueUsage[];
}

export interface KueueCohort {
  readonly name: string;
  /** `spec.parentName`; `null` for a root. */
  readonly parent: string | null;
  /** Quotas of a shared pool on top of the members' own. */
  readonly quotas: readonly KueueQuota[];
  readonly weight: number;
  readonly weightedShare: number | null;
  /** State of the object that was read; `null` or absent for one from a file without it, or built by hand. */
  readonly revision?: ObjectRevision | null;
}

export interface KueueResourceFlavor {
  readonly name: string;
  readonly nodeLabels: TextMap;
  readonly nodeTaints: readonly Taint[];
  readonly tolerations: readonly Toleration[];
  readonly topologyName: string | null;
}

export interface KueuePodSet {
  readonly name: string;
  readonly count: number;
  /** Number of pods that suffices under partial admission; `null` when all are needed. */
  readonly minCount: number | null;
  readonly pod: PodNeeds;
  /**
   * What each container asks for of resources that look like GPUs; absent where there is only one container, which asks for
   * what the pod asks for. It is needed because rules of a LimitRange are about containers.
   */
  readonly containers?: readonly ContainerRequest[];
  /** The level within one of whose domains its pods must be; absent where it requires none. */
  readonly requiredTopology?: RequiredTopology;
}

/** What one container of a pod asks for. */
export interface ContainerRequest {
  /** Whether it ends before the others start: an init container without `restartPolicy: Always`. */
  readonly isInit: boolean;
  /** Amounts above 0 by resource name. */
  readonly requests: ResourceAmounts;
}

/** An entry of `status.admissionChecks[]`: the state of one check that must pass before a Workload with quota is admitted. */
export interface KueueCheckState {
  /** Name of the AdmissionCheck. */
  readonly name: string;
  /**
   * `Ready`: it has passed; `Pending`: it is not decided yet; `Retry`: it takes the quota away and asks again later;
   * `Rejected`: the Workload is deactivated. Before quota is reserved, every check is `Pending`.
   */
  readonly state: "Pending" | "Ready" | "Retry" | "Rejected";
  /** Bounded untrusted text. */
  readonly message: string;
  /** `lastTransitionTime`, seconds since the epoch. */
  readonly changedAt: number | null;
}

/** An AdmissionCheck: which controller judges the checks of this name. */
export interface KueueAdmissionCheck {
  readonly name: string;
  /** `spec.controllerName`, such as `kueue.x-k8s.io/multikueue`. */
  readonly controllerName: string;
}

/** An entry of `status.admission.podSetAssignments[]`. */
export interface KueueAssignment {
  readonly podSet: string;
  readonly count: number;
  /** Flavor by resource. */
  readonly flavors: TextMap;
  /** Totals over all pods of the pod set. */
  readonly usage: ResourceAmounts;
}

export interface KueueWorkload {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number | null;
  /** `spec.queueName`: a LocalQueue of its namespace. */
  readonly localQueue: string;
  /** `spec.priority` plus the annotation `kueue.x-k8s.io/priority-boost`. */
  readonly priority: number;
  /** The part of the priority that comes from this annotation; absent where it adds nothing. */
  readonly priorityBoost?: number;
  /** Name of its WorkloadPriorityClass or PriorityClass; `null` without one. */
  readonly priorityClass: string | null;
  /** `spec.active`, default true. */
  readonly active: boolean;
  /** The object that controls it; `null` without one. */
  readonly owner: OwnerRef | null;
  /** Label `kueue.x-k8s.io/job-uid`. */
  readonly jobUid: string | null;
  readonly podSets: readonly KueuePodSet[];
  /** `status.admission`; `null` while no quota is reserved. */
  readonly admission: {
    readonly clusterQueue: string;
    readonly assignments: readonly KueueAssignment[];
  } | null;
  /** `QuotaReserved`, `Admitted`, `PodsReady`, `Evicted`, `Preempted`, `Requeued`, `Finished`, as far as they are there. */
  readonly conditions: readonly Condition[];
  /** `status.reclaimablePods`: pods that have ended and whose quota is free again, by pod set. */
  readonly reclaimable: readonly { readonly podSet: string; readonly count: number }[];
  /** `status.requeueState.requeueAt`, seconds since the epoch. */
  readonly requeueAt: number | null;
  /** `status.schedulingStats.evictions[]`. */
  readonly evictions: readonly { readonly reason: string; readonly underlyingCause: string; readonly count: number }[];
  /** Annotation `fairlead.dev/checkpointed-at`, seconds since the epoch. */
  readonly checkpointedAt: number | null;
  /** The states of its admission checks; absent where its queue asks for none, and once it has finished. */
  readonly checks?: readonly KueueCheckState[];
  /** MultiKueue, `status.clusterName`: the worker cluster that has taken it; absent while none has. */
  readonly clusterName?: string;
  /** MultiKueue, `status.nominatedClusterNames`: worker clusters that are asked to take it; absent without any. */
  readonly nominatedClusters?: readonly string[];
  /**
   * MultiKueue, label `kueue.x-k8s.io/multikueue-origin`: it is the copy, in a worker cluster, of work of another cluster.
   * Absent in all others.
   */
  readonly isCopy?: true;
  /**
   * Elastic jobs, annotation `kueue.x-k8s.io/workload-slice-replacement-for`: the Workload (`namespace/name`) of the same job
   * whose place it takes, with more pods, once it is admitted. Absent in all others.
   */
  readonly replaces?: string;
}

export interface KueueWorkloadPriorityClass {
  readonly name: string;
  readonly value: number;
}
