import type { AbsentOwner } from "../../model/shortfall.ts";
/** What a leaf holds and is entitled to in one node class, on nodes that take pods. Physical GPUs. */
export interface NodeClassShare {
  readonly nodeClass: string;
  readonly allocated: number;
  readonly entitled: number;
}

/**
 * What one queue is entitled to, and how far it is from it. Physical GPUs of its domain; for inner queues the sums of their
 * leaves.
 */
export interface QueueFairness {
  /**
   * held + pending of the subtree; work that is entitled to GPUs of another domain than the one in which it waits counts there.
   */
  readonly demand: number;
  readonly entitled: number;
  /** held - entitled: above 0 over-served, below 0 under-served. */
  readonly deviation: number;
  /** What it lacks of what it could have if every guarantee had its nodes: the sum of the four causes. */
  readonly shortfall: number;
  /** What is held above the entitlement, summed over node classes. */
  readonly excess: number;
  /** Part of the shortfall: what is free in classes that it may use. */
  readonly shortfallByIdleGap: number;
  /** Part of the shortfall: what is held by leaves above their entitlement. */
  readonly shortfallByBorrowers: number;
  /** Part of the shortfall: what is guaranteed to it but has no nodes, by who can fix it. */
  readonly shortfallByAbsentCapacity: readonly { readonly owner: AbsentOwner; readonly gpus: number }[];
  /** Part of the shortfall: the rest. No whole gang fits into it, or a setting prevents a move. */
  readonly shortfallByIndivisible: number;
  /**
   * GPUs of whole pending gangs, in the order of the queue, that fit into what is free and what its scheduler would take back.
   */
  readonly actionableShortfall: number;
  /**
   * For a leaf: the setting, in words, because of which its scheduler reclaims nothing of what others borrow; `null`: it would
   * reclaim, or nothing is borrowed.
   */
  readonly heldBackBy: string | null;
  /**
   * For a leaf in a domain of several node classes, or with quota in several domains: its shares in the classes in which it
   * holds or may hold anything.
   */
  readonly nodeClasses?: readonly NodeClassShare[];
}

/**
 * A starved leaf queue and one above its entitlement on the same nodes, matched largest first under the lowest common parent.
 * The amount is what their scheduler would move, as far as whole waiting gangs start with it.
 */
export interface StarvedBorrower {
  /** Indices into `Queueing.queues`. */
  readonly starved: number;
  readonly borrower: number;
  readonly gpus: number;
}

/** The fairness of one quota domain; sums over leaves. */
export interface DomainFairness {
  readonly allocated: number;
  readonly pending: number;
  readonly entitled: number;
  readonly excess: number;
  readonly shortfall: number;
  /** Part of the shortfall: free GPUs to which some queue is entitled. */
  readonly idleGap: number;
  /** What pairs move, divided by what is entitled, at most 1; 0 when nothing is entitled. */
  readonly misallocatedRatio: number;
  /**
   * Jain's index of held / entitled over leaves that are entitled to something, 1 if none of them holds anything yet; `null`
   * without such leaves.
   */
  readonly jainIndex: number | null;
  readonly pairs: readonly StarvedBorrower[];
  /** What would be moved if a setting did not prevent it, with the setting in words; for leaves for which more would start. */
  readonly heldBack: readonly (StarvedBorrower & { readonly because: string })[];
}

/**
 * One team's part of all leaves of one domain. A leaf that several teams share is divided among them by their demand, equally.
 */
export interface TeamFairness {
  readonly team: string;
  /** Index into `Queueing.domains`. */
  readonly domain: number;
  readonly allocated: number;
  readonly pending: number;
  readonly entitled: number;
  readonly deviation: number;
}

/** Fairness of one moment. */
export interface Fairness {
  /** Parallel to `Queueing.queues`; `null` in domains where entitlement is not known. */
  readonly queues: readonly (QueueFairness | null)[];
  /** Parallel to `Queueing.domains`. */
  readonly domains: readonly (DomainFairness | null)[];
  /** Teams, ordered by name, then by domain. */
  readonly teams: readonly TeamFairness[];
}

/**
 * What a scheduler with time-based fairshare remembers of each queue: its use over the capacity of a window, and how much that
 * counts (KAI's k).
 */
export interface UsageHistory {
  /** Use as a part 0..1 of the domain's capacity, by `scheduler/kind/name/domain name`. */
  readonly usage: ReadonlyMap<string, number>;
  readonly kValue: number;
}

/** The value for a moment without queues. */
export const noFairness: Fairness = { queues: [], domains: [], teams: [] };
