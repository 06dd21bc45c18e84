import type { LocalAdmission } from "./admission.ts";

/**
 * What one LocalQueue of Kueue has of one ClusterQueue in one quota domain. Physical GPUs; over the LocalQueues of a ClusterQueue they
 * add up to what the ClusterQueue itself holds, waits for and is entitled to there.
 */
export interface LocalQueueShare {
  /** Untrusted text. Both are `null` for work of the ClusterQueue whose LocalQueue is unknown. */
  readonly namespace: string | null;
  readonly name: string | null;
  readonly clusterQueue: string;
  /** Index into `Queueing.queues`; `null` where its ClusterQueue is not there, or has no quota for any GPU of this cluster. */
  readonly queue: number | null;
  /** `spec.fairSharing.weight`; 1 for a LocalQueue that no longer exists, as in Kueue; `null` for work without one. */
  readonly weight: number | null;
  /** What it has used for its weight, as Kueue compares it; `null`: not known. */
  readonly usage: number | null;
  readonly allocated: number;
  /** Eligible pending GPUs. */
  readonly pending: number;
  /** `null` where the ClusterQueue's is not known. */
  readonly entitled: number | null;
  /** held - entitled. */
  readonly deviation: number | null;
}

/** Where a gang is, counted from 1: that one is served next. */
export interface LinePosition {
  /** In the line of its ClusterQueue; `null` where the usage that decides it is not known. */
  readonly inClusterQueue: number | null;
  readonly inLocalQueue: number;
}

/** The last level of Kueue's queues: one moment. */
export interface LocalQueues {
  /** By index of the ClusterQueue's record, namespace and name. */
  readonly shares: readonly LocalQueueShare[];
  /** By name of the ClusterQueue. */
  readonly admission: ReadonlyMap<string, LocalAdmission>;
  /** By index into `Queueing.gangs`: those that are in a line of Kueue. */
  readonly positions: ReadonlyMap<number, LinePosition>;
  /** By name of the ClusterQueue: indices into `Queueing.gangs`, in Kueue's order; `null` where the usage that decides it is not known. */
  readonly lines: ReadonlyMap<string, readonly number[] | null>;
  /** Names of the ClusterQueues whose line Kueue reported itself; the order of the others is computed. */
  readonly reportedByKueue: ReadonlySet<string>;
}

/** A cluster without Kueue. */
export const noLocalQueues: LocalQueues = {
  shares: [],
  admission: new Map(),
  positions: new Map(),
  lines: new Map(),
  reportedByKueue: new Set(),
};
