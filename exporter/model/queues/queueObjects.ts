import type { ResourceAmounts } from "../node.ts";
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

/** What the schedulers' own settings say, as far as the configuration lets Fairlead read them; `null`: not read. */
export interface SchedulerSettings {
  /** Kueue's Configuration (`config.kueue.x-k8s.io`). */
  readonly kueue: {
    /** Preemption-based fair sharing is on. */
    readonly fairSharing: boolean;
    /** `null` where admission fair sharing is not set up; a half-life of 0 keeps all usage at 0. */
    readonly admissionFairSharing: {
      readonly halfLifeSeconds: number;
      readonly samplingIntervalSeconds: number;
      readonly resourceWeights: ResourceAmounts;
    } | null;
    /** Its feature gate `PriorityBoost`; absent where the Configuration names no gates: flags may set them then. */
    readonly priorityBoost?: boolean;
  } | null;
  /** Which plugin of Volcano gives queues their share. */
  readonly volcano: {
    readonly plugin: "proportion" | "capacity";
    /** Absent where the settings or the configuration say it. */
    readonly guessedFrom?: VolcanoPluginSign;
  } | null;
}

/** What lets a plugin of Volcano be guessed whose settings were not read. */
export interface VolcanoPluginSign {
  /** The first Queue that has such a field, by name, the field, and what is there. Untrusted text. */
  readonly queue: string;
  readonly field: "spec.deserved" | "spec.parent";
  readonly value: string;
  /** Queues with such a field. */
  readonly queues: number;
}

/** All that queue systems, and Kubernetes for its own gangs, put into the API. A system that is not there has empty arrays. */
export interface QueueObjects {
  readonly kueueClusterQueues: readonly KueueClusterQueue[];
  readonly kueueLocalQueues: readonly KueueLocalQueue[];
  readonly kueueCohorts: readonly KueueCohort[];
  readonly kueueResourceFlavors: readonly KueueResourceFlavor[];
  readonly kueueWorkloads: readonly KueueWorkload[];
  readonly kueueWorkloadPriorityClasses: readonly KueueWorkloadPriorityClass[];
  readonly kueueAdmissionChecks: readonly KueueAdmissionCheck[];
  readonly kaiQueues: readonly KaiQueue[];
  readonly kaiPodGroups: readonly KaiPodGroup[];
  readonly kaiSchedulingShards: readonly KaiSchedulingShard[];
  readonly volcanoQueues: readonly VolcanoQueue[];
  readonly volcanoPodGroups: readonly VolcanoPodGroup[];
  readonly nativePodGroups: readonly NativePodGroup[];
  readonly nativeWorkloads: readonly NativeWorkload[];
  readonly resourceQuotas: readonly ResourceQuota[];
  readonly limitRanges: readonly LimitRange[];
}

/** The names of the arrays: each is a kind that may be unknown while others are known. */
export type QueueObjectKind = keyof QueueObjects;

/** A cluster without any queue system. */
export const noQueueObjects: QueueObjects = {
  kueueClusterQueues: [],
  kueueLocalQueues: [],
  kueueCohorts: [],
  kueueResourceFlavors: [],
  kueueWorkloads: [],
  kueueWorkloadPriorityClasses: [],
  kueueAdmissionChecks: [],
  kaiQueues: [],
  kaiPodGroups: [],
  kaiSchedulingShards: [],
  volcanoQueues: [],
  volcanoPodGroups: [],
  nativePodGroups: [],
  nativeWorkloads: [],
  resourceQuotas: [],
  limitRanges: [],
};

export const unknownSchedulerSettings: SchedulerSettings = { kueue: null, volcano: null };
