import { failureErrors, healthCauses, unavailableCauses } from "../../model/gpuFaults.ts";
import { nodeTimeStates } from "../../model/idleKinds.ts";
import { adviceKinds, adviceStates } from "../../model/recommendation.ts";
import { nodeStreakStates } from "../nodeStreakAccount.ts";
import { waitPhases } from "../posting.ts";
import type { LedgerCoverage } from "./accountsQuery.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";
import { sizeClasses } from "./waitBucket.ts";

/**
 * The ledger tables: what the ledger counts besides GPU time. `queues` has their GPU-seconds, `nodes` the time in each state,
 * `domains` (over which quotas count) what they can give out and how much of it they gave out, `placement` how free GPUs were
 * spread over nodes, `nodeStreaks` the single nodes that were in one state for at least an hour, `health` what was lost to
 * faults of hardware and nodes, or slowed down, `outages` the single GPUs that could not be used, and `serving` what workloads
 * that serve did for their GPU time.
 */
export const ledgerTables = [
  "queues",
  "domains",
  "waits",
  "evictions",
  "failures",
  "nodes",
  "nodeStreaks",
  "placement",
  "health",
  "outages",
  "serving",
  "recommendations",
] as const;

export type LedgerTable = (typeof ledgerTables)[number];

/** A question to a ledger table about a window of time. */
export interface LedgerTableQuery {
  readonly of: LedgerTable;
  /**
   * Seconds since the epoch; the window is [from, to): whole hours, or whole days (UTC) for waits and where hours are folded.
   */
  readonly from: number;
  readonly to: number;
  /** Some of `dimensionsOf(of)`. */
  readonly groupBy: readonly string[];
  /** Allowed values; `null` is "none". */
  readonly where: ReadonlyMap<string, readonly (string | null)[]>;
  /** The most groups that are returned: days or hours in order, and within each the largest first. The totals count all. */
  readonly limit: number;
}

/**
 * Amounts by name, of each row those of `amountsOf`; `null` where one is not known, or there is nothing to divide by. `queues`: seconds and GPU-seconds, and `deviationRatio`: deviation over entitlement of the judged
 * time; `guaranteed` is `null` where it is not known, and otherwise covers the `guaranteedSeconds`. Shortfalls by absent
 * capacity (their sum, and each by who can fix it) and by indivisible capacity are `null` where no row has them: rows written
 * before version 6 do not. `domains`: the same. `waits`: their number, and seconds; p50 and p95 are exact to a fifth.
 * `evictions`: their number, and GPU-seconds; `unknownLost` counts evictions whose loss is unknown. `failures`: the same of
 * programs that failed and were started again. `nodes`: seconds, seconds
 * with a price, and the cost of their GPUs, which is `null` without a price and where there are several currencies.
 * `recommendations`: their number, counted when they were first seen; GPUs predicted under the worse placement rule, GPU-hours
 * predicted to be lost, and for those that were taken, what was predicted and what was measured. `nodeStreaks`: their number,
 * and the part of them within the window, in seconds and GPU-seconds (of nodes whose GPUs are known); begin and end of the one
 * that has the largest part within it (seconds since the epoch, not cut at the window; no end: it lasts), and the GPUs of its
 * node. `placement`: GPU-seconds of free whole GPUs, the stranded ones by reason (`stranded`: all but `strandedConstraint`),
 * what blocked work needs; and the mean, least and most GPUs of the largest pod that could be placed. The seconds of several
 * domains or pools are added up. `health`: GPU-seconds by cause, of these with a price, and their cost, which is `null` without a
 * price and where there are several currencies. `outages`: their number, the part of them within the window, how many ended in it and how long these had lasted from their
 * begin, and begin and end of the one with the largest part. `serving`: requests and tokens, the GPU-seconds of the workloads
 * while these were counted, and what a million generated tokens cost; tokens are `null` where a server did not count them all the
 * time, and the cost of a million also without a price for all of the time, or where there are several currencies.
 */
export type LedgerTableAmounts = Readonly<Record<string, number | null>>;

/** One group. Values are in the order of `groupBy`; days are `2026-11-21`, hours `2026-11-21T07:00:00Z`. */
export interface LedgerTableRow {
  readonly values: readonly (string | null)[];
  readonly amounts: LedgerTableAmounts;
}

/** The answer to a `LedgerTableQuery`. */
export interface LedgerTableAnswer {
  readonly of: LedgerTable;
  readonly from: number;
  readonly to: number;
  readonly groupBy: readonly string[];
  readonly rows: readonly LedgerTableRow[];
  readonly totalRows: number;
  readonly totals: LedgerTableAmounts;
  readonly coverage: LedgerCoverage;
}

/** An answer, or why there is none: the question cannot be answered as asked, or the ledger cannot be read. */
export type LedgerTableResult = LedgerResult<LedgerTableAnswer>;

/** Whether a text names a ledger table. */
export function isLedgerTable(text: string): text is LedgerTable {
  return ledgerTables.some((subject) => subject === text);
}

/** Values that a dimension can have; `null`: any text. */
export function ledgerTableFilterValues(of: LedgerTable, dimension: string): readonly string[] | null {
  if (dimension === "phase") return waitPhases;
  if (dimension === "sizeClass") return sizeClasses;
  if (dimension === "cause") return of === "outages" ? unavailableCauses : healthCauses;
  if (dimension === "state") return stateValues(of);
  if (dimension === "error") return failureErrors;
  if (dimension === "kind" && of === "recommendations") return adviceKinds;
  return dimension === "scheduler" ? ["kueue", "kai", "volcano", "none"] : null;
}

function stateValues(of: LedgerTable): readonly string[] {
  if (of === "nodeStreaks") return nodeStreakStates;
  return of === "nodes" ? nodeTimeStates : adviceStates;
}
