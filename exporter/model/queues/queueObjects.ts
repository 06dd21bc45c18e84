import type { ResourceAmounts } from "../node.ts";
import type { HyperNode, TopologyObject } from "../topology.ts";
import type { CoschedulingPodGroup } from "./coscheduling.ts";
import type { KaiPodGroup, KaiQueue, KaiSchedulingShard } from "./kai.ts";
import type {
  KueueAdmissionCheck,
  KueueClusterQueue,
  KueueCohort,
  KueueLocalQueue,
  KueueResourceFlavor,
  KueueWorkload,
  KueueWorkloadPriorityClass,
} from "./kueue.ts";
import type { NativePodGroup, NativeWorkload } from "./nativeGangs.ts";
import type { VolcanoPodGroup, VolcanoQueue } from "./volcano.ts";

/** A ResourceQuota with an amount of something that may be GPUs. */
export interface ResourceQuota {
  readonly namespace: string;
  readonly name: string;
  /** `spec.hard` of extended resources, by resource name without `requests.`. */
  readonly hard: ResourceAmounts;
  readonly used: ResourceAmounts;
}

/**
 * A LimitRange with rules about extended resources. The API server refuses pods that ask for more than `max`, and gives a
 * container that names no amount of a resource the default one; pods that are there already are not touched.
 */
export interface LimitRange {
  readonly namespace: string;
  readonly name: string;
  readonly limits: readonly {
    /** Whether the amounts apply to each container, or to a pod with all its containers. */
    readonly type: "Container" | "Pod";
    readonly max: ResourceAmounts;
    /** `defaultRequest`, else `default`, which is the limit; of containers only. */
    readonly defaults: ResourceAmounts;
  }[];
}

/** The schedulers' own settings, as far as the configuration lets Fairlead read them; `null`: not read. */
export interface SchedulerSettings {
  /** Kueue's Configuration (`config.kueue.x-k8s.io`). */
  readonly kueue: {
    /** Whether preemption-based fair sharing is on. */
    readonly fairSharing: boolean;
    /** Settings of admission fair sharing; `null` where it is not set up; a half-life of 0 keeps all usage at 0. */
    readonly admissionFairSharing: {
      readonly halfLifeSeconds: number;
      readonly samplingIntervalSeconds: number;
      readonly resourceWeights: ResourceAmounts;
    } | null;
    /** Its feature gate `PriorityBoost`; absent where the Configuration names no gates, because flags may set them then. */
    readonly priorityBoost?: boolean;
  } | null;
  /** Which plugin of Volcano gives queues their share. */
  readonly volcano: {
    readonly plugin: "proportion" | "capacity";
    /** What the plugin was guessed from; absent where the settings or the configuration name it. */
    readonly guessedFrom?: VolcanoPluginSign;
  } | null;
}

/** What allows a plugin of Volcano whose settings were not read to be guessed. */
export interface VolcanoPluginSign {
  /** The first Queue by name that has such a field, then the field and its value. Untrusted text. */
  readonly queue: string;
  readonly field: "spec.deserved" | "spec.parent";
  readonly value: string;
  /** Number of queues with such a field. */
  readonly queues: number;
}

/** All that queue systems, and Kubernetes for its own gangs, put into the API. A system that is not installed has empty arrays. */
export interface QueueObjects {
  readonly kueueClusterQueues: readonly KueueClusterQueue[];
  readonly kueueLocalQueues: readonly KueueLocalQueue[];
  readonly kueueCohorts: readonly KueueCohort[];
  readonly kueueResourceFlavors: readonly KueueResourceFlavor[];
  readonly kueueWorkloads: readonly KueueWorkload[];
  readonly kueueWorkloadPriorityClasses: readonly KueueWorkloadPriorityClass[];
  readonly kueueAdmissionChecks: readonly KueueAdmissionCheck[];
  readonly kueueTopologies: readonly TopologyObject[];
  readonly kaiQueues: readonly KaiQueue[];
  readonly kaiPodGroups: readonly KaiPodGroup[];
  readonly kaiSchedulingShards: readonly KaiSchedulingShard[];
  readonly kaiTopologies: readonly TopologyObject[];
  readonly volcanoQueues: readonly VolcanoQueue[];
  readonly volcanoPodGroups: readonly VolcanoPodGroup[];
  readonly volcanoHyperNodes: readonly HyperNode[];
  readonly nativePodGroups: readonly NativePodGroup[];
  readonly nativeWorkloads: readonly NativeWorkload[];
  readonly coschedulingPodGroups: readonly CoschedulingPodGroup[];
  readonly resourceQuotas: readonly ResourceQuota[];
  readonly limitRanges: readonly LimitRange[];
}

/** The names of the arrays: each is a kind that may be unknown while others are known. */
export type QueueObjectKind = keyof QueueObjects;

/** The value for a cluster without any queue system. */
export const noQueueObjects: QueueObjects = {
  kueueClusterQueues: [],
  kueueLocalQueues: [],
  kueueCohorts: [],
  kueueResourceFlavors: [],
  kueueWorkloads: [],
  kueueWorkloadPriorityClasses: [],
  kueueAdmissionChecks: [],
  kueueTopologies: [],
  kaiQueues: [],
  kaiPodGroups: [],
  kaiSchedulingShards: [],
  kaiTopologies: [],
  volcanoQueues: [],
  volcanoPodGroups: [],
  volcanoHyperNodes: [],
  nativePodGroups: [],
  nativeWorkloads: [],
  coschedulingPodGroups: [],
  resourceQuotas: [],
  limitRanges: [],
};

export const unknownSchedulerSettings: SchedulerSettings = { kueue: null, volcano: null };
