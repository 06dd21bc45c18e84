import type { QueueFairness, StarvedBorrower } from "./fairness.ts";

/** What one queue got of its guarantee. Queues are indices into `Queueing.queues`, amounts physical GPUs. */
export interface SureShare {
  readonly queue: number;
  /** What it is guaranteed. */
  readonly quota: number;
  /** The part of the quota that its demand can use. */
  readonly asked: number;
  readonly got: number;
}

/** The guarantees of siblings, which are served together. */
export interface SureStep {
  /** 1 when all of them fit; else the part of its quota above which no sibling got anything. */
  readonly scale: number;
  /** The shares of the siblings with a quota. */
  readonly shares: readonly SureShare[];
}

/**
 * Why a queue got no more of a surplus: its `demand` or its `limit` (at that node) is met, it has no `weight`, or `nothing`
 * but the end of the surplus.
 */
export type CappedBy = "demand" | "limit" | "weight" | "nothing";

/** What one queue got of the surplus. */
export interface SurplusShare {
  readonly queue: number;
  readonly weight: number;
  /** Whether its guarantee counts towards its share by weight, so that it takes part only beyond the guarantee. */
  readonly isFloor: boolean;
  /** The weight that counted: its own, or the weight of the first round after history is applied; relative to its siblings. */
  readonly effectiveWeight: number;
  /** What it could still use. */
  readonly headroom: number;
  readonly got: number;
  readonly cappedBy: CappedBy;
}

/** One division of the surplus: among queues of one priority, or among those without weight after them. */
export interface SurplusStep {
  readonly priority: number;
  /** `weight`: in proportion to weights; `history`: to weights and past use; `last`: equally among queues of weight 0. */
  readonly by: "weight" | "history" | "last";
  readonly available: number;
  readonly shares: readonly SurplusShare[];
  readonly left: number;
}

/** How what one node was given is divided among its children. */
export interface LevelTrace {
  /** The queue whose children share; `null`: the domain's root. */
  readonly parent: number | null;
  /** What there is to divide. */
  readonly grant: number;
  /**
   * The part of the grant that is withheld from everybody: unused quota of queues that do not lend it. Above 0 only at the
   * root.
   */
  readonly withheld: number;
  readonly guarantees: SureStep;
  /** grant - withheld - what was guaranteed = sum of what the steps gave + `left`. */
  readonly surplus: number;
  readonly steps: readonly SurplusStep[];
  /** The part that no child can use. */
  readonly left: number;
  /** For each child, what was guaranteed and what was given of the surplus, as its own level divides it. */
  readonly results: readonly { readonly queue: number; readonly demand: number; readonly entitled: number }[];
}

/** A pool of the domain with GPUs that are free there; `null` if that was not given. */
export interface PoolGap {
  readonly pool: string;
  readonly free: number | null;
}

/** How the entitlement of a queue is computed, and who has what it lacks. */
export interface EntitlementTrace {
  readonly queue: number;
  /** The index by which the levels refer to it: its record in the first of its domains. */
  readonly head: number;
  readonly domain: number;
  /** All domains that are divided together with its own: indices into `Queueing.domains`. */
  readonly domains: readonly number[];
  /** The capacity of these domains together. */
  readonly capacity: number;
  /** The part of the capacity that is held by what belongs to no queue; it is not divided. */
  readonly setAside: number;
  /** The part of the capacity that is held on nodes that take no pods; it stays with its holders. */
  readonly allocatedElsewhere: number;
  /** The part of that which the queue holds; it is part of its entitlement. */
  readonly lost: number;
  /** From the domain's root down to the level at which the queue gets its share; empty for what is set aside. */
  readonly levels: readonly LevelTrace[];
  readonly demand: number;
  readonly entitled: number;
  readonly allocated: number;
  /** Which leaves outside hold what the leaves below (or it itself) lack, largest first. */
  readonly missing: readonly StarvedBorrower[];
  /** Which leaves outside are entitled to its own excess, largest first. */
  readonly owed: readonly StarvedBorrower[];
  /** Its shortfall by cause. */
  readonly judged: QueueFairness;
  /** The part of its shortfall that is free although it is entitled to it, and where GPUs are free. */
  readonly idleGap: { readonly gpus: number; readonly pools: readonly PoolGap[] };
}
