import type { WorkloadKey } from "../posting.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";

/** A question about single workloads: which of them cost most, and which wasted most. */
export interface JobsQuery {
  /** Start of the window [from, to), seconds since the epoch. The window is whole days (UTC). */
  readonly from: number;
  readonly to: number;
  /** Only GPU time that this team held is counted; `null` for all teams. */
  readonly team: string | null;
  /** The most rows of each list. */
  readonly limit: number;
}

/** The GPU time of a workload within a window in GPU-seconds, and its cost by currency. */
export interface JobRow {
  readonly workload: WorkloadKey;
  /** The team of the account in which the workload held most; `null` if that has none. */
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
  /**
   * Cost of a unit of progress since the workload was first seen, by currency; empty where the workload reports no progress, or
   * has been gone for a day.
   */
  readonly costPerUnit: Readonly<Record<string, number>>;
}

/** The answer to a `JobsQuery`. */
export interface JobsAnswer {
  /** The number of workloads that allocated GPUs. */
  readonly count: number;
  /**
   * The number of workloads by team; the empty text stands for no team. A workload that changed its team counts for each of its
   * teams.
   */
  readonly countByTeam: ReadonlyMap<string, number>;
  readonly gpuSeconds: number;
  readonly costs: Readonly<Record<string, number>>;
  /**
   * The workloads that cost most. Amounts of different currencies are not compared: the largest amount decides, then GPU time.
   */
  readonly byCost: readonly JobRow[];
  readonly byWaste: readonly JobRow[];
}

/** An answer, or the reason why there is none. */
export type JobsResult = LedgerResult<JobsAnswer>;
