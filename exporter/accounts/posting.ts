import type { GpuState } from "../analysis/booking.ts";
import type { CapacityType } from "../join/snapshot.ts";

/**
 * What booked GPU time is accounted to. Two accounts with the same values are the same account; what nobody holds has
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
}

/** The workload that held what was booked. */
export interface WorkloadKey {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** GPU time of one account (and one workload) within one hour. Append-only: postings are added up, never taken back. */
export interface Posting {
  /** Begin of the hour it is booked in, seconds since the epoch; a multiple of 3600. */
  readonly hour: number;
  readonly account: Account;
  /** `null` for what nobody holds. */
  readonly workload: WorkloadKey | null;
  /** Physical GPU-seconds, above 0. */
  readonly gpuSeconds: number;
  /** Of these, of holdings whose device or split of activity is estimated. */
  readonly estimatedGpuSeconds: number;
  /** Joules drawn by what was booked; `null` when its cards report neither energy nor power. */
  readonly energyJoules: number | null;
}

/** The control sum of a pool in one hour, taken from the inventory of cards and not from the bookings. */
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
}

/** A node is in the first of these that is true of it. `idle_unallocated`: ready, and nothing holds a GPU of it. */
export type NodeTimeState = "not_ready" | "cordoned" | "idle_unallocated" | "ready" | "unknown";

/** Why an interval is booked nowhere. */
export type GapReason =
  /** Longer than three cycles: the process slept, was stopped, or restarted. */
  | "too-long"
  /** Wall clock and monotonic clock disagree by more than a cycle. */
  | "clock-jump"
  /** Nodes or pods could not be read freshly enough. */
  | "stale-objects";

/** An interval between two cycles, booked or not. Times are wall time, seconds since the epoch. */
export interface StepInterval {
  readonly from: number;
  readonly to: number;
  /** Monotonic seconds between the two cycles. */
  readonly seconds: number;
  /** `null`: covered, and booked. */
  readonly gap: GapReason | null;
}

/** |held by device - held by pod| of one node over a step, GPU-seconds; only nodes where the books differ. */
export interface NodeImbalance {
  readonly node: string;
  readonly pool: string;
  readonly gpuSeconds: number;
}

/** Everything that one step adds to the books. A gap has no postings. */
export interface AccruedStep {
  readonly interval: StepInterval;
  readonly postings: readonly Posting[];
  readonly poolHours: readonly PoolHour[];
  readonly nodeTimes: readonly NodeTime[];
  readonly imbalances: readonly NodeImbalance[];
}
