import type { QueueKind } from "../join/queues/queueing.ts";
import type { QueueScheduler } from "../model/queues/eviction.ts";
import type { AbsentOwner } from "../model/shortfall.ts";
import type { countedQueueAmounts } from "./posting.ts";

/** The names of a leaf queue in a domain, as they are in series and in the ledger. */
export interface QueueKey {
  readonly scheduler: QueueScheduler;
  readonly kind: QueueKind;
  readonly queue: string;
  /** Name of its quota domain. */
  readonly domain: string;
}

/**
 * GPU time of a queue since the process started, in GPU-seconds. `allocated` and `pending` count all covered time; the others
 * count only the part of it in which the entitlement was known, `judgedSeconds`. Over that part, judgedAllocated - entitled is
 * the deviation.
 */
export interface QueueTotals extends QueueKey, Readonly<Record<(typeof countedQueueAmounts)[number], number>> {
  /** Team of the queue; empty where several share it. */
  readonly team: string;
}

/** GPU-seconds that a queue lacked because its guarantee had no nodes, by who can fix it. */
export interface AbsentTotals extends QueueKey {
  readonly team: string;
  readonly owner: AbsentOwner;
  readonly gpuSeconds: number;
}

/**
 * Decayed deviation of a queue ("fairness debt"): the integral of deviation x 2^(-age / half-life), GPU-seconds. `ratio`
 * divides it by the entitlement decayed in the same way; `null` until the domain has been watched for one half-life, while
 * less than 0.9 of the (decayed) time since is covered, and where the decayed entitlement is below 1 % of the domain's
 * capacity.
 */
export interface FairnessDebt extends QueueKey {
  readonly team: string;
  readonly halfLifeSeconds: number;
  readonly gpuSeconds: number;
  readonly ratio: number | null;
}

/** Ended waits of a queue and priority class. Buckets are cumulative, by `waitBuckets` and `+Inf`. */
export interface EndedWaits {
  readonly queue: string;
  readonly priorityClass: string;
  /**
   * `admission` is from creation (or requeueing) to reserved quota; `start` is from there, or from creation where there is no
   * such step, until the pods were bound.
   */
  readonly phase: "admission" | "start";
  readonly buckets: readonly number[];
  readonly sumSeconds: number;
  readonly count: number;
}

/** The evictions of one queue that have the same reason and preemptor. */
export interface EvictionTotals {
  readonly queue: string;
  readonly team: string;
  readonly reason: string;
  /** Queue of the work that took its place; empty if this is not reported, or no work did. */
  readonly preemptorQueue: string;
  readonly evictions: number;
  /** The lost GPU time; an upper bound where no checkpoint is known. */
  readonly lostGpuSeconds: number;
}

/** What happened in queues since the process started; totals never fall. */
export interface QueueCounters {
  readonly totals: readonly QueueTotals[];
  /** Shortfalls by absent capacity; only for owners that a queue has had since the process started. */
  readonly absent: readonly AbsentTotals[];
  readonly debts: readonly FairnessDebt[];
  readonly waits: readonly EndedWaits[];
  readonly evictions: readonly EvictionTotals[];
  /** GPU-seconds allocated to partial gangs, by pool. */
  readonly partialGangGpuSeconds: readonly { readonly pool: string; readonly gpuSeconds: number }[];
}
