import { nodeTimeStates } from "../../model/idleKinds.ts";
import { adviceKinds, adviceStates } from "../../model/recommendation.ts";
import { nodeStreakStates } from "../nodeStreak.ts";
import { waitPhases } from "../posting.ts";
import type { LedgerCoverage } from "./accountsQuery.ts";
import { sizeClasses } from "./waitBucket.ts";

/**
 * The ledger tables: what the ledger counts beside GPU time. Of `queues` their GPU-seconds, of `nodes` the time in each state, of
 * `domains` (over which quotas count) what they can give out and how much of it they did, of `placement` how free GPUs lay,
 * and in `nodeStreaks` the single nodes that were in one state for an hour at least.
 */
export const ledgerTables = [
  "queues",
  "domains",
  "waits",
  "evictions",
  "nodes",
  "nodeStreaks",
  "placement",
  "recommendations",
] as const;

export type LedgerTable = (typeof ledgerTables)[number];

/** By what each can be grouped; all but times can choose rows. A workload is `KIND/NAMESPACE/NAME` of what was evicted. */
export const ledgerTableDimensions = {
  queues: ["day", "hour", "scheduler", "kind", "queue", "domain", "team"],
  domains: ["day", "hour", "domain"],
  waits: ["day", "queue", "team", "priorityClass", "sizeClass", "phase", "bucket"],
  evictions: [
    "day",
    "hour",
    "scheduler",
    "queue",
    "team",
    "namespace",
    "workload",
    "priorityClass",
    "reason",
    "preemptor",
    "preemptorTeam",
    "preemptorQueue",
  ],
  nodes: ["day", "hour", "pool", "nodePool", "capacityType", "state", "currency"],
  nodeStreaks: ["node", "nodePool", "pool", "state"],
  placement: ["day", "hour", "pool"],
  recommendations: ["day", "hour", "kind", "state", "fromTeam", "forTeam", "queue", "pool", "id", "title"],
} as const satisfies Readonly<Record<LedgerTable, readonly string[]>>;

/** By what an answer is grouped when nothing is said. */
export const defaultGroups: Readonly<Record<LedgerTable, string>> = {
  queues: "queue,domain",
  domains: "domain",
  waits: "queue,priorityClass,phase",
  evictions: "queue,reason",
  nodes: "nodePool,pool,capacityType,state,currency",
  nodeStreaks: "node,nodePool,pool,state",
  placement: "pool",
  recommendations: "kind,state",
};

/**
 * The amounts of each row. `queues`: seconds and GPU-seconds, and `deviationRatio`: deviation over entitlement of the
 * judged time; `guaranteed` is `null` where it is not known, and of the `guaranteedSeconds` where it is. Shortfalls by absent
 * capacity (their sum, and each by whose it is to fix) and by what is indivisible are `null` where no row says of them: those
 * written before version 6 do not. `domains`: the same. `waits`: their number, and seconds; p50 and p95 are exact to a fifth. `evictions`: their number, and
 * GPU-seconds; `unknownLost` counts those of which nobody knows what was lost. `nodes`: seconds, those of them that had a
 * price, and the cost of their GPUs; `null` without one, and where there are several currencies. `recommendations`: their
 * number, counted when they were first seen; GPUs predicted under the worse placement rule, GPU-hours predicted to be lost,
 * and of those that were taken what was predicted and what was measured. `nodeStreaks`: their number, and the part of them
 * within the window, in seconds and GPU-seconds (of nodes whose GPUs are known); begin and end of the one of which most is
 * within it (seconds since the epoch, as they were; no end: it lasts), and the GPUs of its node. `placement`: GPU-seconds of
 * free whole GPUs, what of them is stranded by reason (`stranded`: all but `strandedConstraint`), what blocked work needs; and
 * the mean, least and most GPUs of the largest pod that could be placed. Of several domains or pools, seconds add up.
 */
export const ledgerTableAmounts = {
  queues: [
    "allocated",
    "entitled",
    "excess",
    "shortfallByBorrowers",
    "shortfallByIdleGap",
    "pending",
    "deviationRatio",
    "judgedSeconds",
    "seconds",
    "guaranteed",
    "guaranteedSeconds",
    "judgedAllocated",
    "shortfallByAbsentCapacity",
    "shortfallByLostNode",
    "shortfallByNodeToCome",
    "shortfallByPastQueues",
    "shortfallByPromisedTwice",
    "shortfallByIndivisible",
  ],
  domains: ["capacity", "allocated", "pending", "guaranteed", "guaranteedSeconds", "seconds"],
  waits: ["waits", "meanSeconds", "p50Seconds", "p95Seconds", "seconds"],
  evictions: ["evictions", "preemptions", "gpus", "lostGpuSeconds", "upperBoundGpuSeconds", "unknownLost"],
  nodes: ["nodeSeconds", "pricedNodeSeconds", "cost"],
  nodeStreaks: ["streaks", "seconds", "gpuSeconds", "longestSeconds", "longestBegins", "longestEnds", "longestGpus"],
  placement: [
    "free",
    "stranded",
    "strandedConstraint",
    "strandedGpus",
    "strandedCpu",
    "strandedMemory",
    "strandedCpuAndMemory",
    "blocked",
    "largestPlaceableMean",
    "largestPlaceableMin",
    "largestPlaceableMax",
    "seconds",
  ],
  recommendations: [
    "recommendations",
    "predictedGpus",
    "predictedLostGpuHours",
    "takenPredictedGpus",
    "measuredGpus",
    "takenPredictedLostGpuHours",
    "measuredLostGpuHours",
  ],
} as const satisfies Readonly<Record<LedgerTable, readonly string[]>>;

/** A question to a ledger table about a window of time. */
export interface LedgerTableQuery {
  readonly of: LedgerTable;
  /** Seconds since the epoch; the window is [from, to): whole hours, whole days (UTC) of waits and where hours are folded. */
  readonly from: number;
  readonly to: number;
  /** Some of `ledgerTableDimensions[of]`. */
  readonly groupBy: readonly string[];
  /** Allowed values; `null` is "none". */
  readonly where: ReadonlyMap<string, readonly (string | null)[]>;
  /** Groups that are returned, the largest first (within a day or hour, which come first). The totals count all. */
  readonly limit: number;
}

/** Amounts by name; `null` where one is not known, or there is nothing to divide by. */
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

/** An answer, or why there is none: the question cannot be answered as it was asked, or the ledger cannot be read. */
export type LedgerTableResult =
  | { readonly ok: true; readonly answer: LedgerTableAnswer }
  | { readonly ok: false; readonly fault: "question" | "ledger"; readonly error: string; readonly nextStep: string };

/** Whether a text names a ledger table. */
export function isLedgerTable(text: string): text is LedgerTable {
  return ledgerTables.some((subject) => subject === text);
}

/** Values that a dimension can have; `null`: any text. */
export function ledgerTableFilterValues(of: LedgerTable, dimension: string): readonly string[] | null {
  if (dimension === "phase") return waitPhases;
  if (dimension === "sizeClass") return sizeClasses;
  if (dimension === "state") return stateValues(of);
  if (dimension === "kind" && of === "recommendations") return adviceKinds;
  return dimension === "scheduler" ? ["kueue", "kai", "volcano", "none"] : null;
}

function stateValues(of: LedgerTable): readonly string[] {
  if (of === "nodeStreaks") return nodeStreakStates;
  return of === "nodes" ? nodeTimeStates : adviceStates;
}
