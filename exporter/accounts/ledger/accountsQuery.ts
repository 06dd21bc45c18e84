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

/** What rows can be selected by. */
export type AccountFilter = Exclude<AccountDimension, "day" | "hour">;

/** A question about a window of time. */
export interface AccountsQuery {
  /** Seconds since the epoch; the window is [from, to). Whole hours, and whole days (UTC) where only those are kept. */
  readonly from: number;
  readonly to: number;
  readonly groupBy: readonly AccountDimension[];
  /** Allowed values; `null` is "none" (no team, no queue). A workload is `KIND/NAMESPACE/NAME`. */
  readonly where: ReadonlyMap<AccountFilter, readonly (string | null)[]>;
  /** The most groups that are returned: days or hours in order, and within each the largest first. The totals count all. */
  readonly limit: number;
}

/** Sums of GPU time. */
export interface AccountSums {
  readonly gpuSeconds: number;
  /** The part of these from holdings whose device or split of activity is estimated. */
  readonly estimatedGpuSeconds: number;
  /** `null` when none of the time was metered. */
  readonly energyJoules: number | null;
  /** GPU-seconds for which the energy is known. */
  readonly meteredGpuSeconds: number;
  /** At the prices of the time at which it was counted, by currency; empty when none of it had a price. */
  readonly costs: ReadonlyMap<string, number>;
  /** The only one of `costs`; `null` if there are none or several, because currencies are never added up. */
  readonly cost: number | null;
  /** GPU-seconds that had a price. */
  readonly pricedGpuSeconds: number;
}

/** One group. Values are in the order of `AccountsQuery.groupBy`; days are `2026-11-21`, hours `2026-11-21T07:00:00Z`. */
export interface AccountsRow extends AccountSums {
  readonly values: readonly (string | null)[];
}

/** Why a part of a window is not covered; the last two are outside what the ledger has seen. */
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
  /** Covered part, 0..1. */
  readonly ratio: number;
  /** The first `maxGaps`, in order. */
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

/** An answer, or why there is none: the question cannot be answered as asked, or the ledger cannot be read. */
export type AccountsResult = LedgerResult<AccountsAnswer>;

/** Values that a filter can have; `null`: any text is allowed. */
export function filterValues(filter: AccountFilter): readonly string[] | null {
  return filter === "state" ? gpuStates : null;
}

/** Whether the question is about single workloads, which are kept by day. */
export function isByWorkload(query: AccountsQuery): boolean {
  return query.groupBy.includes("workload") || query.where.has("workload");
}
