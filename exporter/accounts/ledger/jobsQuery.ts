import type { WorkloadKey } from "../posting.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";

/** A question about single workloads: which cost most, and which wasted most. */
export interface JobsQuery {
  /** Seconds since the epoch; the window is [from, to), whole days (UTC). */
  readonly from: number;
  readonly to: number;
  /** Only what this team held; `null`: all. */
  readonly team: string | null;
  /** How many of each list. */
  readonly limit: number;
}

/** What a workload held in a window; GPU-seconds, and money by currency. */
export interface JobRow {
  readonly workload: WorkloadKey;
  /** The team of the account in which it held most; `null`: none. */
  readonly team: string | null;
  readonly queue: string | null;
  readonly gpuSeconds: number;
  readonly activeGpuSeconds: number;
  /** Allocated and observed GPU-seconds: the denominator of utilization. */
  readonly judgedGpuSeconds: number;
  /** Idle, stalled and underutilized GPU-seconds. */
  readonly wastedGpuSeconds: number;
  readonly costs: Readonly<Record<string, number>>;
  readonly wasteCosts: Readonly<Record<string, number>>;
  /** What a unit of progress has cost since the workload was first seen; empty where it says none, or has been gone for a day. */
  readonly costPerUnit: Readonly<Record<string, number>>;
}

/** The answer to a `JobsQuery`. */
export interface JobsAnswer {
  /** Workloads that allocated GPUs. */
  readonly count: number;
  /** The same by team; the empty text is no team. A workload that changed its team counts for each. */
  readonly countByTeam: ReadonlyMap<string, number>;
  readonly gpuSeconds: number;
  readonly costs: Readonly<Record<string, number>>;
  /** Amounts of different currencies are not compared: the largest amount decides, then GPU time. */
  readonly byCost: readonly JobRow[];
  readonly byWaste: readonly JobRow[];
}

/** An answer, or why there is none. */
export type JobsResult = LedgerResult<JobsAnswer>;
