import type { EvictedWork } from "../join/queues/queueing.ts";
import type { CapacityType } from "../model/capacityType.ts";
import type { GapReason } from "../model/gapReasons.ts";
import type { GpuState } from "../model/gpuStates.ts";
import type { NodeTimeState } from "../model/idleKinds.ts";
import type { EndedShape } from "../model/podShape.ts";
import type { PriceBasis, PriceSource } from "../model/prices.ts";
import type { AbsentOwner } from "../model/shortfall.ts";
import type { CapacityTime } from "./capacityTime.ts";
import type { SeenFailure } from "./failureAccount.ts";
import type { HealthTime } from "./healthTime.ts";
import type { RememberedChange } from "./ledger/ledger.ts";
import type { NodeStreak } from "./nodeStreakAccount.ts";
import type { Outage } from "./outageAccount.ts";
import type { QueueKey } from "./queueCounters.ts";
import type { ServedTime } from "./servedTime.ts";

/**
 * What GPU time is counted to. Two accounts with the same values are the same account. The account of GPUs that nobody holds
 * has no team, queue, namespace and priority class.
 */
export interface Account {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: CapacityType | null;
  readonly team: string | null;
  readonly queue: string | null;
  readonly namespace: string | null;
  readonly priorityClass: string | null;
  readonly state: GpuState;
  /** The currency of its cost; `null` for GPUs without a price. */
  readonly currency: string | null;
}

/** The workload that held the GPUs. */
export interface WorkloadKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** GPU time of one account (and one workload) within one hour. Postings are only added, never taken back. */
export interface Posting {
  /** Start of the hour in which the time is counted, seconds since the epoch; a multiple of 3600. */
  readonly hour: number;
  readonly account: Account;
  /** The workload that held the GPUs; `null` if nobody did. */
  readonly workload: WorkloadKey | null;
  /** Physical GPU-seconds, above 0. */
  readonly gpuSeconds: number;
  /** The part of these GPU-seconds that comes from holdings whose device or split of activity is estimated. */
  readonly estimatedGpuSeconds: number;
  /** Joules that the GPUs drew in this time; `null` when they report neither energy nor power. */
  readonly energyJoules: number | null;
  /**
   * Cost at the prices of the moment in which the time is counted, in the account's currency; `null` exactly where that is
   * `null`.
   */
  readonly cost: number | null;
}

/** The control sum of a pool in one hour, taken from the inventory of GPUs and not from the accounting entries. */
export interface PoolHour {
  readonly hour: number;
  readonly pool: string;
  readonly physicalGpuSeconds: number;
}

/** Node time by state in one hour. */
export interface NodeTime {
  readonly hour: number;
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: CapacityType | null;
  readonly state: NodeTimeState;
  readonly nodeSeconds: number;
  /** Currency of `cost`; `null` for nodes without a price. */
  readonly currency: string | null;
  /** What the GPUs of these nodes cost in this time; `null` exactly where the currency is. */
  readonly cost: number | null;
}

/** An interval between two cycles, counted or not. Times are wall time, seconds since the epoch. */
export interface StepInterval {
  readonly from: number;
  readonly to: number;
  /** Monotonic seconds between the two cycles. */
  readonly seconds: number;
  /** The reason why the interval is not counted; `null` if it is covered and counted. */
  readonly gap: GapReason | null;
}

/**
 * The difference between the GPUs that are held by device and by pod on one node, without its sign, in GPU-seconds over a step.
 * Only nodes where the two accounts differ have one.
 */
export interface NodeImbalance {
  readonly node: string;
  readonly pool: string;
  readonly gpuSeconds: number;
}

/** The amounts of a queue's time, in physical GPU-seconds. */
export const queueGpuAmounts = [
  "allocated",
  "entitled",
  "excess",
  "shortfallByBorrowers",
  "shortfallByIdleGap",
  "shortfallByLostNode",
  "shortfallByNodeToCome",
  "shortfallByPastQueues",
  "shortfallByPromisedTwice",
  "shortfallByIndivisible",
  "pending",
  /**
   * The part of `allocated` in the judged seconds. The deviation is this minus `entitled`; it does not follow from the
   * shortfalls.
   */
  "judgedAllocated",
] as const;

/**
 * The name of the shortfall by absent capacity that each owner can fix; the sum of these amounts is the whole shortfall by
 * absent capacity.
 */
export const absentAmounts = {
  lost_node: "shortfallByLostNode",
  node_to_come: "shortfallByNodeToCome",
  past_queues: "shortfallByPastQueues",
  promised_twice: "shortfallByPromisedTwice",
} as const satisfies Readonly<Record<AbsentOwner, (typeof queueGpuAmounts)[number]>>;

/** GPU-seconds that a queue lacked because its guarantees have no nodes, whoever can fix that. */
export function absentSum(of: Readonly<Record<(typeof absentAmounts)[AbsentOwner], number>>): number {
  return of.shortfallByLostNode + of.shortfallByNodeToCome + of.shortfallByPastQueues + of.shortfallByPromisedTwice;
}

/** The sums of a queue's time that are counted since the process started. */
export const countedQueueAmounts = [
  /** Covered time in which the queue's entitlement was known: the entitlement and what follows from it count only then. */
  "judgedSeconds",
  ...queueGpuAmounts,
] as const;

/** The sums of a queue's time that the ledger keeps: seconds, and physical GPU-seconds. */
export const queueAmounts = [
  /** Covered time in which the queue held anything, waited for anything or was entitled to anything. */
  "seconds",
  ...countedQueueAmounts,
  /** Covered time in which the queue's guarantee was known, whether or not it had anything else. */
  "guaranteedSeconds",
  "guaranteed",
] as const;

export type QueueAmount = (typeof queueAmounts)[number];

/**
 * The amounts of a leaf queue within one hour; a queue without any of them has no record. A queue that has only a guarantee has
 * only the amounts of the guarantee.
 */
export interface QueueTime extends QueueKey, Readonly<Record<QueueAmount, number>> {
  readonly hour: number;
  /** The team of the queue; `null` where several teams share it, or none is known. */
  readonly team: string | null;
}

/** Phases of a wait, as in `EndedWaits`; `total` is the time from creation (or requeueing) until the pods were bound. */
export const waitPhases = ["admission", "start", "total"] as const;

export type WaitPhase = (typeof waitPhases)[number];

/** A wait that has ended. */
export interface EndedWait {
  /** Name of the leaf queue, and its only team; `null` if there is none. */
  readonly queue: string | null;
  readonly team: string | null;
  readonly priorityClass: string;
  readonly phase: WaitPhase;
  readonly seconds: number;
  /** The end of the wait, seconds since the epoch. */
  readonly endedAt: number;
  /** Physical GPUs of the work; `null` where that is not known. */
  readonly gpus: number | null;
}

/** An eviction that was not seen before. */
export interface SeenEviction {
  readonly eviction: EvictedWork;
  /**
   * Whether it happened before this process looked for the first time. If so, it counts for the ledger, which knows its key,
   * and not for counters.
   */
  readonly isEarlier: boolean;
}

/** GPU time that partial gangs of a pool held over a step. */
export interface PartialGangTime {
  readonly pool: string;
  readonly gpuSeconds: number;
}

/** A price at which nodes of one kind are counted; all amounts are `null` where they have none. */
export interface UsedPrice {
  readonly pool: string;
  readonly nodePool: string;
  readonly instanceType: string | null;
  readonly capacityType: CapacityType | null;
  readonly currency: string | null;
  readonly basis: PriceBasis | null;
  readonly source: PriceSource | null;
  /** The date of the price itself, seconds since the epoch. */
  readonly dated: number | null;
  /** Price of one physical GPU for an hour. */
  readonly perGpuHour: number | null;
}

/** All prices at which time is counted from one moment on, until they change. */
export interface PricesInUse {
  /** The moment from which they are used, seconds since the epoch. */
  readonly since: number;
  readonly prices: readonly UsedPrice[];
}

/** The results that follow from the two moments of a step alone. A gap has an interval and nothing else. */
export interface AccruedTime {
  readonly interval: StepInterval;
  readonly postings: readonly Posting[];
  readonly poolHours: readonly PoolHour[];
  readonly nodeTimes: readonly NodeTime[];
  readonly imbalances: readonly NodeImbalance[];
  readonly queueTimes: readonly QueueTime[];
  readonly partialGangs: readonly PartialGangTime[];
  readonly capacity: CapacityTime;
  /** GPU time that has a health cause: a part of the postings, and GPUs that were slowed down. */
  readonly healthTimes: readonly HealthTime[];
}

/**
 * Everything that one step adds to the accounts. Waits, evictions, failures and ends of pods are events, which a gap has as
 * well; each event appears once.
 */
export interface AccruedStep extends AccruedTime {
  readonly waits: readonly EndedWait[];
  readonly evictions: readonly SeenEviction[];
  readonly failures: readonly SeenFailure[];
  /** Pods with GPUs that have ended since the objects were last known, by shape; they count at `interval.to`. */
  readonly endedPods: readonly EndedShape[];
  /** Nodes that have now been in one state for an hour, and those of them that no longer are. */
  readonly nodeStreaks: readonly NodeStreak[];
  /** GPUs that have now not been usable for five minutes, and those of them that are usable again. */
  readonly outages: readonly Outage[];
  /** What workloads that serve did, and the GPU time that it took. */
  readonly servedTimes: readonly ServedTime[];
  /** The prices at which this step is counted; `null` if they are those of the step before. */
  readonly prices: PricesInUse | null;
  /**
   * What must survive a restart: changes of decayed deviations, past use, progress, served work, streaks of nodes and outages.
   */
  readonly remembered: readonly RememberedChange[];
}
