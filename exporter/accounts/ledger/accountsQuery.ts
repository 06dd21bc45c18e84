import { gpuStates } from "../../model/gpuStates.ts";
import type { StoredGapReason } from "./ledger.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";

/**
 * What GPU time can be grouped by: the parts of the account (the currency is that of its price), the workload that held it,
 * and UTC hours or days.
 */
export const accountDimensions = [
  "day",
  "hour",
  "pool",
  "nodePool",
  "capacityType",
  "team",
  "queue",
  "namespace",
  "priorityClass",
  "state",
  "currency",
  "workload",
] as const;

export type AccountDimension = (typeof accountDimensions)[number];

/** The dimensions that rows can be selected by. */
export type AccountFilter = Exclude<AccountDimension, "day" | "hour">;

/** A question about a window of time. */
export interface AccountsQuery {
  /**
   * Start of the window [from, to), seconds since the epoch. Both ends are whole hours, or whole days (UTC) where only days are
   * kept.
   */
  readonly from: number;
  readonly to: number;
  readonly groupBy: readonly AccountDimension[];
  /** Allowed values; `null` is "none" (no team, no queue). A workload is `KIND/NAMESPACE/NAME`. */
  readonly where: ReadonlyMap<AccountFilter, readonly (string | null)[]>;
  /**
   * The most groups that are returned: days or hours in order, and within each the largest first. The totals contain all
   * groups.
   */
  readonly limit: number;
}

/** Sums of GPU time. */
export interface AccountSums {
  readonly gpuSeconds: number;
  /** The part of these GPU-seconds that comes from holdings whose device or split of activity is estimated. */
  readonly estimatedGpuSeconds: number;
  /** Energy of the metered time; `null` when none of the time was metered. */
  readonly energyJoules: number | null;
  /** GPU-seconds for which the energy is known. */
  readonly meteredGpuSeconds: number;
  /** Costs by currency, at the prices of the time at which they were counted; empty when none of the time had a price. */
  readonly costs: ReadonlyMap<string, number>;
  /** The only one of `costs`; `null` if there are none or several, because different currencies are never added up. */
  readonly cost: number | null;
  /** GPU-seconds that had a price. */
  readonly pricedGpuSeconds: number;
}

/** One group. `values` are in the order of `AccountsQuery.groupBy`; days are `2026-11-21`, hours `2026-11-21T07:00:00Z`. */
export interface AccountsRow extends AccountSums {
  readonly values: readonly (string | null)[];
}

/** The reason why a part of a window is not covered; the last two are for time that the ledger has not seen. */
export type UncoveredReason = StoredGapReason | "before-ledger" | "after-last-entry";

/** A part of the window for which nothing is counted. */
export interface UncoveredTime {
  readonly from: number;
  readonly to: number;
  readonly reason: UncoveredReason;
}

/** How much of a window is counted. */
export interface LedgerCoverage {
  readonly windowSeconds: number;
  readonly coveredSeconds: number;
  /** The covered part of the window, 0..1. */
  readonly ratio: number;
  /** The first `maxGaps` parts that are not covered, in order. */
  readonly gaps: readonly UncoveredTime[];
  readonly gapsLeftOut: number;
}

/** The answer to an `AccountsQuery`. */
export interface AccountsAnswer {
  readonly from: number;
  readonly to: number;
  readonly groupBy: readonly AccountDimension[];
  readonly rows: readonly AccountsRow[];
  readonly totalRows: number;
  readonly totals: AccountSums;
  readonly coverage: LedgerCoverage;
}

/** An answer, or the reason why there is none: the question cannot be answered as asked, or the ledger cannot be read. */
export type AccountsResult = LedgerResult<AccountsAnswer>;

/** The values that a filter can have; `null` if any text is allowed. */
export function filterValues(filter: AccountFilter): readonly string[] | null {
  return filter === "state" ? gpuStates : null;
}

/** Whether the question is about single workloads, which are kept by day. */
export function isByWorkload(query: AccountsQuery): boolean {
  return query.groupBy.includes("workload") || query.where.has("workload");
}
