import type { GpuModelName } from "../gpuModels.ts";

/** Systems that the simulator speaks. */
export type QueueSystemName = "kueue" | "kai" | "volcano";

/** Quota of GPUs in one flavor. */
export interface FlavorQuota {
  readonly flavor: string;
  readonly nominal: number;
  /** `null`: no limit. */
  readonly borrowingLimit: number | null;
  /** `null`: all of it may be lent. */
  readonly lendingLimit: number | null;
}

export interface ClusterQueueSpec {
  readonly name: string;
  readonly cohort: string | null;
  readonly weight: number;
  readonly quotas: readonly FlavorQuota[];
  readonly strategy: "StrictFIFO" | "BestEffortFIFO";
  /** Whether it takes its nominal quota back from those who borrowed it. */
  readonly reclaimWithinCohort: "Never" | "LowerPriority" | "Any";
  /** What is written there; nobody preempts within a queue here. Default `LowerPriority`. */
  readonly withinClusterQueue?: "Never" | "LowerPriority";
  /** Namespaces that have a LocalQueue for it, of the same name. */
  readonly namespaces: readonly string[];
}

export interface CohortSpec {
  readonly name: string;
  readonly parent: string | null;
  readonly weight: number;
  readonly quotas: readonly FlavorQuota[];
}

export interface KueueSpec {
  /** Preemption-based fair sharing. */
  readonly fairSharing: boolean;
  /** What waits is behind preemption gates that nobody opens: policies say what would be taken, and nothing is. Default: no. */
  readonly hasClosedGates?: boolean;
  readonly flavors: readonly { readonly name: string; readonly model: GpuModelName }[];
  readonly cohorts: readonly CohortSpec[];
  readonly clusterQueues: readonly ClusterQueueSpec[];
}

/** Amounts in GPUs; -1 is unlimited. */
export interface KaiQueueSpec {
  readonly name: string;
  readonly parent: string | null;
  readonly priority: number;
  readonly quota: number;
  readonly limit: number;
  readonly overQuotaWeight: number;
}

export interface VolcanoQueueSpec {
  readonly name: string;
  readonly weight: number;
  /** GPUs; `null`: not set. */
  readonly guarantee: number | null;
  readonly deserved: number | null;
  readonly capability: number | null;
  readonly reclaimable: boolean;
}

/** KAI's time-based fairshare: what is above quotas is divided by weights that past use lowers (SchedulingShard). */
export interface KaiHistorySpec {
  /** Use before this is forgotten: a sliding window. */
  readonly windowSeconds: number;
  readonly halfLifeSeconds: number;
  /** How strongly past use counts; 0: not at all. */
  readonly kValue: number;
}

/** Which queue systems run in the cluster, and what their administrators wrote. */
export interface QueueingSpec {
  readonly kueue: KueueSpec | null;
  readonly kai: {
    /** Value of the node-pool label of its nodes and pod groups; `null`: all nodes. */
    readonly nodePool: string | null;
    readonly queues: readonly KaiQueueSpec[];
    /** Default: past use does not count. */
    readonly history?: KaiHistorySpec;
  } | null;
  readonly volcano: {
    readonly plugin: "proportion" | "capacity";
    readonly queues: readonly VolcanoQueueSpec[];
  } | null;
}

/** A cluster without queues. */
export const noQueueing: QueueingSpec = { kueue: null, kai: null, volcano: null };
