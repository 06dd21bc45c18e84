import type { GpuModelName } from "../gpuModels.ts";

/** Queue systems that the simulator plays. */
export type QueueSystemName = "kueue" | "kai" | "volcano";

/** Quota of GPUs in one flavor. */
export interface FlavorQuota {
  readonly flavor: string;
  readonly nominal: number;
  /** The most that may be borrowed; `null`: there is no limit. */
  readonly borrowingLimit: number | null;
  /** The most that may be lent; `null`: all of it. */
  readonly lendingLimit: number | null;
}

export interface ClusterQueueSpec {
  readonly name: string;
  readonly cohort: string | null;
  readonly weight: number;
  readonly quotas: readonly FlavorQuota[];
  readonly strategy: "StrictFIFO" | "BestEffortFIFO";
  /** From which borrowers the queue takes its nominal quota back. */
  readonly reclaimWithinCohort: "Never" | "LowerPriority" | "Any";
  /** The policy that is written there; nothing is preempted within a queue here. Default `LowerPriority`. */
  readonly withinClusterQueue?: "Never" | "LowerPriority";
  /** Namespaces that have a LocalQueue of the same name for it. */
  readonly namespaces: readonly string[];
}

export interface CohortSpec {
  readonly name: string;
  readonly parent: string | null;
  readonly weight: number;
  readonly quotas: readonly FlavorQuota[];
}

/** The level of the cluster's topology, by its node label, in one domain of which all pods of a workload must or should be. */
export interface TopologyRequest {
  readonly mode: "required" | "preferred";
  readonly label: string;
}

export interface KueueSpec {
  /** Whether fair sharing with preemption is on. */
  readonly fairSharing: boolean;
  /**
   * Whether waiting work is behind preemption gates that are never opened: policies name what would be taken, but nothing is.
   * Default: no.
   */
  readonly hasClosedGates?: boolean;
  /** Node labels of the Topology of all flavors, the coarsest first; default: there is none. */
  readonly topologyLevels?: readonly string[];
  readonly flavors: readonly { readonly name: string; readonly model: GpuModelName }[];
  readonly cohorts: readonly CohortSpec[];
  readonly clusterQueues: readonly ClusterQueueSpec[];
}

/** A queue of KAI. Amounts are in GPUs; -1 is unlimited. */
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
  /** The guarantee, GPUs; `null`: it is not set. */
  readonly guarantee: number | null;
  readonly deserved: number | null;
  readonly capability: number | null;
  readonly reclaimable: boolean;
}

/** KAI's time-based fairshare: GPUs above quotas are divided by weights that past use lowers (SchedulingShard). */
export interface KaiHistorySpec {
  /** The length of the sliding window; use before it is forgotten. */
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
    /** How past use counts; default: it does not. */
    readonly history?: KaiHistorySpec;
  } | null;
  readonly volcano: {
    readonly plugin: "proportion" | "capacity";
    readonly queues: readonly VolcanoQueueSpec[];
  } | null;
}

/** A cluster without queues. */
export const noQueueing: QueueingSpec = { kueue: null, kai: null, volcano: null };
