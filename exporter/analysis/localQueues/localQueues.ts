import type { LocalAdmission } from "./admission.ts";

/**
 * What one LocalQueue of Kueue has of one ClusterQueue in one quota domain. Physical GPUs. Over the LocalQueues of a
 * ClusterQueue, they add up to what the ClusterQueue itself holds, waits for and is entitled to there.
 */
export interface LocalQueueShare {
  /** Namespace and name, untrusted text. Both are `null` for work of the ClusterQueue whose LocalQueue is unknown. */
  readonly namespace: string | null;
  readonly name: string | null;
  readonly clusterQueue: string;
  /**
   * Index into `Queueing.queues`; `null` where its ClusterQueue does not exist, or has no quota for any GPU of this cluster.
   */
  readonly queue: number | null;
  /** `spec.fairSharing.weight`; 1 for a LocalQueue that no longer exists, as in Kueue; `null` for work without one. */
  readonly weight: number | null;
  /** What it has used for its weight, as Kueue compares it; `null`: not known. */
  readonly usage: number | null;
  readonly allocated: number;
  /** Eligible pending GPUs. */
  readonly pending: number;
  /** Physical GPUs that it is entitled to; `null` where the entitlement of the ClusterQueue is not known. */
  readonly entitled: number | null;
  /** held - entitled. */
  readonly deviation: number | null;
}

/** The position of a gang in line, counted from 1: the gang at 1 is served next. */
export interface LinePosition {
  /** Position in the line of its ClusterQueue; `null` where the usage that decides it is not known. */
  readonly inClusterQueue: number | null;
  readonly inLocalQueue: number;
}

/** The last level of Kueue's queues at one moment. */
export interface LocalQueues {
  /** Shares, ordered by index of the ClusterQueue's record, namespace and name. */
  readonly shares: readonly LocalQueueShare[];
  /** How each ClusterQueue admits, by its name. */
  readonly admission: ReadonlyMap<string, LocalAdmission>;
  /** Positions by index into `Queueing.gangs`, for the gangs that are in a line of Kueue. */
  readonly positions: ReadonlyMap<number, LinePosition>;
  /**
   * Indices into `Queueing.gangs` in Kueue's order, by name of the ClusterQueue; `null` where the usage that decides it is not
   * known.
   */
  readonly lines: ReadonlyMap<string, readonly number[] | null>;
  /** Names of the ClusterQueues whose line Kueue reported itself; the order of the others is computed. */
  readonly reportedByKueue: ReadonlySet<string>;
}

/** The value for a cluster without Kueue. */
export const noLocalQueues: LocalQueues = {
  shares: [],
  admission: new Map(),
  positions: new Map(),
  lines: new Map(),
  reportedByKueue: new Set(),
};
