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
 * What counted GPU time is accounted to. Two accounts with the same values are the same account; what nobody holds has
 * no team, queue, namespace and priority class.
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

/** The workload that held what was counted. */
export interface WorkloadKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** GPU time of one account (and one workload) within one hour. Append-only: postings are added up, never taken back. */
export interface Posting {
  /** Begin of the hour it is counted in, seconds since the epoch; a multiple of 3600. */
  readonly hour: number;
  readonly account: Account;
  /** `null` for what nobody holds. */
  readonly workload: WorkloadKey | null;
  /** Physical GPU-seconds, above 0. */
  readonly gpuSeconds: number;
  /** The part of these from holdings whose device or split of activity is estimated. */
  readonly estimatedGpuSeconds: number;
  /** Joules drawn by what was counted; `null` when its GPUs report neither energy nor power. */
  readonly energyJoules: number | null;
  /** At the prices of the moment in which it is counted, in the account's currency; `null` exactly where that is `null`. */
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
  /** `null`: covered, and counted. */
  readonly gap: GapReason | null;
}

/** |held by device - held by pod| of one node over a step, GPU-seconds; only nodes where the accounts differ. */
export interface NodeImbalance {
  readonly node: string;
  readonly pool: string;
  readonly gpuSeconds: number;
}

/** What a queue's time is made of, physical GPU-seconds. */
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
   * The part of `allocated` in the judged seconds. Minus `entitled`, it is the deviation; neither follows from the shortfalls.
   */
  "judgedAllocated",
] as const;

/** A shortfall by absent capacity is kept by who can fix it; the sum over these is all of it. */
export const absentAmounts = {
  lost_node: "shortfallByLostNode",
  node_to_come: "shortfallByNodeToCome",
  past_queues: "shortfallByPastQueues",
  promised_twice: "shortfallByPromisedTwice",
} as const satisfies Readonly<Record<AbsentOwner, (typeof queueGpuAmounts)[number]>>;

/** What a queue lacked because its guarantees have no nodes, whoever can fix that. */
export function absentSum(of: Readonly<Record<(typeof absentAmounts)[AbsentOwner], number>>): number {
  return of.shortfallByLostNode + of.shortfallByNodeToCome + of.shortfallByPastQueues + of.shortfallByPromisedTwice;
}

/** The sums of a queue's time that are counted since the process started. */
export const countedQueueAmounts = [
  /** Covered time in which its entitlement was known: only then do the entitlement and what follows from it count. */
  "judgedSeconds",
  ...queueGpuAmounts,
] as const;

/** The sums that are kept of a queue's time: seconds, and physical GPU-seconds. */
export const queueAmounts = [
  /** Covered time in which it held, waited for or was entitled to anything. */
  "seconds",
  ...countedQueueAmounts,
  /** Covered time in which its guarantee was known, whether or not it had anything else. */
  "guaranteedSeconds",
  "guaranteed",
] as const;

export type QueueAmount = (typeof queueAmounts)[number];

/**
 * What a leaf queue had within one hour; a leaf without any of this has no record. A leaf that has only a guarantee has only
 * the amounts of the guarantee.
 */
export interface QueueTime extends QueueKey, Readonly<Record<QueueAmount, number>> {
  readonly hour: number;
  /** `null` where several teams share it, or none is known. */
  readonly team: string | null;
}

/** Phases of a wait, as in `EndedWaits`; `total`: from creation (or requeueing) until its pods were bound. */
export const waitPhases = ["admission", "start", "total"] as const;

export type WaitPhase = (typeof waitPhases)[number];

/** A wait that has ended. */
export interface EndedWait {
  /** Name of the leaf queue, and its one team; `null` without. */
  readonly queue: string | null;
  readonly team: string | null;
  readonly priorityClass: string;
  readonly phase: WaitPhase;
  readonly seconds: number;
  /** Seconds since the epoch. */
  readonly endedAt: number;
  /** Physical GPUs of the work; `null` where that is not known. */
  readonly gpus: number | null;
}

/** An eviction that was not seen before. */
export interface SeenEviction {
  readonly eviction: EvictedWork;
  /**
   * It happened before this process looked for the first time: it counts for the ledger, which knows its key, and not for
   * counters.
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
  /** The price's own date, seconds since the epoch. */
  readonly dated: number | null;
  /** Of one physical GPU. */
  readonly perGpuHour: number | null;
}

/** All prices at which time is counted from a moment on, until they change. */
export interface PricesInUse {
  /** Seconds since the epoch. */
  readonly since: number;
  readonly prices: readonly UsedPrice[];
}

/** What follows from the two moments of a step alone. A gap has an interval and nothing else. */
export interface AccruedTime {
  readonly interval: StepInterval;
  readonly postings: readonly Posting[];
  readonly poolHours: readonly PoolHour[];
  readonly nodeTimes: readonly NodeTime[];
  readonly imbalances: readonly NodeImbalance[];
  readonly queueTimes: readonly QueueTime[];
  readonly partialGangs: readonly PartialGangTime[];
  readonly capacity: CapacityTime;
  /** What of the postings is put down to faults of hardware and nodes, and what was slowed down. */
  readonly healthTimes: readonly HealthTime[];
}

/**
 * Everything that one step adds to the accounts. Waits, evictions, failures and ends of pods are events, which a gap has as well; each
 * appears once.
 */
export interface AccruedStep extends AccruedTime {
  readonly waits: readonly EndedWait[];
  readonly evictions: readonly SeenEviction[];
  readonly failures: readonly SeenFailure[];
  /** Pods with GPUs that have ended since the objects were last known, by shape; at `interval.to`. */
  readonly endedPods: readonly EndedShape[];
  /** Nodes that have been in one state for an hour now, and those of them that no longer are. */
  readonly nodeStreaks: readonly NodeStreak[];
  /** GPUs that have not been usable for five minutes now, and those of them that are again. */
  readonly outages: readonly Outage[];
  /** What workloads that serve did, and the GPU time that it took. */
  readonly servedTimes: readonly ServedTime[];
  /** The prices at which this step is counted; `null`: those of the step before. */
  readonly prices: PricesInUse | null;
  /** What must survive a restart of decayed deviations and of past use. */
  readonly remembered: readonly RememberedChange[];
}
