import { failureErrors, healthCauses, unavailableCauses } from "../../model/gpuFaults.ts";
import { nodeTimeStates } from "../../model/idleKinds.ts";
import { adviceKinds, adviceStates } from "../../model/recommendation.ts";
import { sizeClasses } from "../../model/sizeClass.ts";
import { nodeStreakStates } from "../nodeStreakAccount.ts";
import { waitPhases } from "../posting.ts";
import type { LedgerCoverage } from "./accountsQuery.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";

/**
 * The ledger tables, which contain what the ledger counts besides GPU time:
 * - `queues`: the GPU-seconds of queues;
 * - `domains`: what quota domains can give out, and how much of it they gave out;
 * - `nodes`: the time of nodes in each state;
 * - `placement`: how free GPUs were spread over nodes;
 * - `topology`: how long gangs would have fitted into one domain of each level of the topology;
 * - `nodeStreaks`: single nodes that were in one state for at least an hour;
 * - `health`: GPU time that was lost to faults of hardware and nodes, or was slowed down;
 * - `outages`: single GPUs that could not be used;
 * - `serving`: what workloads that serve did for their GPU time.
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
  "topology",
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
   * Start of the window [from, to), seconds since the epoch. The window is whole hours, or whole days (UTC) for waits and where
   * hours are folded.
   */
  readonly from: number;
  readonly to: number;
  /** The dimensions of the groups, some of `dimensionsOf(of)`. */
  readonly groupBy: readonly string[];
  /** Allowed values by dimension; `null` means "none". */
  readonly where: ReadonlyMap<string, readonly (string | null)[]>;
  /**
   * The most groups that are returned: days or hours in order, and within each the largest first. The totals contain all
   * groups.
   */
  readonly limit: number;
}

/**
 * The amounts of a row by name; the names are those of `amountsOf`. An amount is `null` where it is not known, or where there
 * is nothing to divide by. Seconds of several domains or pools are added up.
 * - `queues`: seconds and GPU-seconds, and `deviationRatio`, which is deviation over entitlement of the judged time.
 *   `guaranteed` is `null` where it is not known, and otherwise covers the `guaranteedSeconds`. Shortfalls by absent capacity
 *   (their sum, and each by who can fix it) and by indivisible capacity are `null` where no row has them: rows written before
 *   version 6 do not.
 * - `domains`: seconds and GPU-seconds; `guaranteed` is as in `queues`.
 * - `waits`: their number, and seconds; p50 and p95 are exact to a fifth.
 * - `evictions`: their number, and GPU-seconds; `unknownLost` is the number of evictions whose loss is unknown.
 * - `failures`: the same amounts for programs that failed and were started again.
 * - `nodes`: seconds, seconds with a price, and the cost of the GPUs, which is `null` without a price and where there are
 *   several currencies.
 * - `recommendations`: their number, counted when they were first seen; the GPUs predicted under the worse placement rule and
 *   the GPU-hours predicted to be lost; and for those that were taken, what was predicted and what was measured.
 * - `nodeStreaks`: their number, and the part of them within the window, in seconds and GPU-seconds (of nodes whose GPUs are
 *   known); for the one with the largest part within the window, its start and end (seconds since the epoch, not cut at the
 *   window; no end while it lasts) and the GPUs of its node.
 * - `placement`: GPU-seconds of free whole GPUs, of stranded GPUs by reason (`stranded` is the sum of all reasons but
 *   `strandedConstraint`), and of what blocked work needs; and the mean, the least and the most GPUs of the largest pod that
 *   could be placed.
 * - `topology`: the covered seconds of a level, and those of them in which at least one gang of 8, 16, 32, 64, 128 or 256 GPUs
 *   could have started within one domain of it (`fitted8` to `fitted256`).
 * - `health`: GPU-seconds by cause, the part of these with a price, and their cost, which is `null` without a price and where
 *   there are several currencies.
 * - `outages`: their number, the part of them within the window, how many ended in it and how long these had lasted from their
 *   start, and start and end of the one with the largest part within the window.
 * - `serving`: requests and tokens, the GPU-seconds of the workloads while these were counted, and what a million generated
 *   tokens cost. Tokens are `null` where a server did not count them all the time. The cost of a million is also `null` then,
 *   and where some of the time has no price or there are several currencies.
 */
export type LedgerTableAmounts = Readonly<Record<string, number | null>>;

/** One group. `values` are in the order of `groupBy`; days are `2026-11-21`, hours `2026-11-21T07:00:00Z`. */
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

/** An answer, or the reason why there is none: the question cannot be answered as asked, or the ledger cannot be read. */
export type LedgerTableResult = LedgerResult<LedgerTableAnswer>;

/** Whether a text names a ledger table. */
export function isLedgerTable(text: string): text is LedgerTable {
  return ledgerTables.some((subject) => subject === text);
}

/** The values that a dimension can have; `null` if any text is allowed. */
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
