import type { ResourceAmounts } from "../node.ts";
import type { OwnerRef } from "../pod.ts";
import type { RequiredTopology } from "../topology.ts";
import type { Condition } from "./condition.ts";
import type { ObjectRevision } from "./objectRevision.ts";

/** Objects of KAI Scheduler and Run:ai (`scheduling.run.ai`, `kai.scheduler`), cut down to what Fairlead uses. */

/**
 * Priorities from this value on are not preemptible where a PodGroup does not declare it (KAI-Scheduler:
 * `PriorityBuildNumber`).
 */
export const kaiNonPreemptibleFrom = 100;

/**
 * Quota of one resource in KAI's own units: GPUs (fractions allowed), CPU milli-cores, memory in 10^6 bytes; -1 is unlimited.
 */
export interface KaiQueueResource {
  /** 0 if absent: no guarantee. */
  readonly quota: number;
  /** 0 if absent: never any surplus. */
  readonly overQuotaWeight: number;
  /** 0 if absent: a hard cap of zero. */
  readonly limit: number;
}

export interface KaiQueue {
  readonly name: string;
  readonly displayName: string | null;
  /** `spec.parentQueue`. */
  readonly parent: string | null;
  /**
   * Label `kai.scheduler/node-pool` (or what the settings name): the only shard that reads it; `null` for the default shard.
   */
  readonly nodePool: string | null;
  /** `spec.priority`, default 100. */
  readonly priority: number;
  readonly createdAt: number | null;
  /** `null` where `spec.resources` has no entry: KAI reads it as all zero. */
  readonly gpu: KaiQueueResource | null;
  readonly cpu: KaiQueueResource | null;
  readonly memory: KaiQueueResource | null;
  readonly preemptMinRuntimeSeconds: number | null;
  readonly reclaimMinRuntimeSeconds: number | null;
  /** `status.allocated`, `.allocatedNonPreemptible`, `.requested` in base units by resource name; `null` when absent. */
  readonly allocated: ResourceAmounts | null;
  readonly allocatedNonPreemptible: ResourceAmounts | null;
  readonly requested: ResourceAmounts | null;
  readonly conditions: readonly Condition[];
  /** State of the object that was read; `null` or absent for one from a file without it, or built by hand. */
  readonly revision?: ObjectRevision | null;
}

/** `status.schedulingConditions[]`: why a group is not scheduled, by node pool. */
export interface KaiSchedulingCondition {
  readonly type: string;
  readonly nodePool: string;
  readonly reasons: readonly { readonly reason: string; readonly message: string }[];
  readonly message: string;
  readonly changedAt: number | null;
}

export interface KaiPodGroup {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number | null;
  readonly queue: string;
  readonly minMember: number;
  readonly priorityClass: string | null;
  readonly preemptibility: string | null;
  /** Label `kai.scheduler/node-pool`; `null` for the default pool. */
  readonly nodePool: string | null;
  /** The top owner of its pods. */
  readonly owner: OwnerRef | null;
  readonly schedulingConditions: readonly KaiSchedulingCondition[];
  /** `status.resourcesStatus`, base units by resource name; `null` when absent. */
  readonly allocated: ResourceAmounts | null;
  readonly requested: ResourceAmounts | null;
  /** Times from annotations, seconds since the epoch. */
  readonly lastStartAt: number | null;
  readonly lastEvictionAt: number | null;
  readonly staleSince: number | null;
  readonly checkpointedAt: number | null;
  /** The level within one of whose domains its pods must be; absent where it requires none. */
  readonly requiredTopology?: RequiredTopology;
}

/** `SchedulingShard` (`kai.scheduler/v1`): one scheduler over the nodes of one partition. */
export interface KaiSchedulingShard {
  readonly name: string;
  /** Value of the node-pool label of its nodes; `null` for nodes without the label. */
  readonly partitionLabelValue: string | null;
  /** `spec.kValue`: how strongly history counts; default 1 where a usage database is set. */
  readonly kValue: number | null;
  /** `spec.usageDBConfig.usageParams`; `null` where time-based fairshare is off. */
  readonly usage: {
    readonly windowSeconds: number;
    readonly windowType: string;
    /** Half-life of past usage; `null`: no decay. */
    readonly halfLifeSeconds: number | null;
  } | null;
  readonly createdAt: number | null;
}
