/** What one queue is entitled to, and how far it is from it. Physical GPUs of its domain. */
export interface QueueFairness {
  /** held + pending, of the subtree. */
  readonly demand: number;
  readonly entitled: number;
  /** held - entitled: above 0 over-served, below 0 under-served. */
  readonly deviation: number;
  /** max(0, -deviation) = shortfallByOthers + shortfallByIdleGap. */
  readonly shortfall: number;
  readonly excess: number;
  /** Of the shortfall: held by leaves above their entitlement. */
  readonly shortfallByOthers: number;
  /** Of the shortfall: GPUs that are free although somebody is entitled to them. */
  readonly shortfallByIdleGap: number;
  /** Whole pending gangs, in the order of the queue, that fit into the shortfall. */
  readonly actionableShortfall: number;
}

/** A starved leaf queue and one above its entitlement, matched largest first under the lowest common parent. */
export interface StarvedBorrower {
  /** Indices into `Queueing.queues`. */
  readonly starved: number;
  readonly borrower: number;
  readonly gpus: number;
}

/** The fairness of one quota domain; sums over leaves. */
export interface DomainFairness {
  readonly held: number;
  readonly pending: number;
  readonly entitled: number;
  readonly excess: number;
  readonly shortfall: number;
  /** shortfall - excess = entitled - held: idle GPUs although somebody is entitled to them; below 0 never by more than what clamping explains. */
  readonly idleGap: number;
  /** excess / entitled, at most 1; 0 when nothing is entitled. */
  readonly misallocatedRatio: number;
  /** Jain's index of held / entitled over leaves that are entitled to something, 1 where none holds anything yet; `null` without any. */
  readonly jainIndex: number | null;
  readonly pairs: readonly StarvedBorrower[];
}

/** One team's part of all leaves of one domain. A leaf that teams share is divided among them by their demand, equally. */
export interface TeamFairness {
  readonly team: string;
  /** Index into `Queueing.domains`. */
  readonly domain: number;
  readonly held: number;
  readonly pending: number;
  readonly entitled: number;
  readonly deviation: number;
}

/** Fairness of one moment. */
export interface Fairness {
  /** Parallel to `Queueing.queues`; `null` in domains where entitlement cannot be told. */
  readonly queues: readonly (QueueFairness | null)[];
  /** Parallel to `Queueing.domains`. */
  readonly domains: readonly (DomainFairness | null)[];
  /** By team name, then domain. */
  readonly teams: readonly TeamFairness[];
}

/** What a scheduler with time-based fairshare remembers of one queue: its use over the capacity of a window, and how much that counts (KAI's k). */
export interface UsageHistory {
  /** By `scheduler/kind/name/domain name`: 0..1 of the domain's capacity. */
  readonly usage: ReadonlyMap<string, number>;
  readonly kValue: number;
}

/** The fairness of a moment without queues. */
export const noFairness: Fairness = { queues: [], domains: [], teams: [] };
