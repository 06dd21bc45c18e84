import { nodeTimeStates } from "../../model/idleKinds.ts";
import { adviceKinds, adviceStates } from "../../model/recommendation.ts";
import { nodeStreakStates } from "../nodeStreak.ts";
import { waitPhases } from "../posting.ts";
import type { LedgerCoverage } from "./accountsQuery.ts";
import { sizeClasses } from "./waitBucket.ts";

/**
 * The side books: what the ledger counts beside GPU time. Of `queues` their GPU-seconds, of `nodes` the time in each state, of
 * `domains` (over which quotas count) what they can give out and how much of it they did, of `placement` how free GPUs lay,
 * and in `nodeStreaks` the single nodes that were in one state for an hour at least.
 */
export const sideBooks = [
  "queues",
  "domains",
  "waits",
  "evictions",
  "nodes",
  "nodeStreaks",
  "placement",
  "recommendations",
] as const;

export type SideBook = (typeof sideBooks)[number];

/** By what each can be grouped; all but times can choose rows. A workload is `KIND/NAMESPACE/NAME` of what was evicted. */
export const sideBookDimensions = {
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
} as const satisfies Readonly<Record<SideBook, readonly string[]>>;

/** By what an answer is grouped when nothing is said. */
export const defaultGroups: Readonly<Record<SideBook, string>> = {
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
 * capacity (their sum, and each by whose it is to mend) and by what is indivisible are `null` where no row tells of them: those
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
export const sideBookAmounts = {
  queues: [
    ...["held", "entitled", "excess", "shortfallByBorrowers", "shortfallByIdleGap", "pending", "deviationRatio"],
    ...["judgedSeconds", "seconds", "guaranteed", "guaranteedSeconds", "judgedHeld", "shortfallByAbsentCapacity"],
    ...["shortfallByLostNode", "shortfallByNodeToCome", "shortfallByPastQueues", "shortfallByPromisedTwice"],
    "shortfallByIndivisible",
  ],
  domains: ["capacity", "held", "pending", "guaranteed", "guaranteedSeconds", "seconds"],
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
} as const satisfies Readonly<Record<SideBook, readonly string[]>>;

/** A question to a side book about a window of time. */
export interface SideBookQuery {
  readonly of: SideBook;
  /** Seconds since the epoch; the window is [from, to): whole hours, whole days (UTC) of waits and where hours are folded. */
  readonly from: number;
  readonly to: number;
  /** Some of `sideBookDimensions[of]`. */
  readonly groupBy: readonly string[];
  /** Allowed values; `null` is "none". */
  readonly where: ReadonlyMap<string, readonly (string | null)[]>;
  /** Groups that are returned, the largest first (within a day or hour, which come first). The totals count all. */
  readonly limit: number;
}

/** Amounts by name; `null` where one is not known, or there is nothing to divide by. */
export type SideBookAmounts = Readonly<Record<string, number | null>>;

/** One group. Values stand in the order of `groupBy`; days are `2026-11-21`, hours `2026-11-21T07:00:00Z`. */
export interface SideBookRow {
  readonly values: readonly (string | null)[];
  readonly amounts: SideBookAmounts;
}

/** The answer to a `SideBookQuery`. */
export interface SideBookAnswer {
  readonly of: SideBook;
  readonly from: number;
  readonly to: number;
  readonly groupBy: readonly string[];
  readonly rows: readonly SideBookRow[];
  readonly totalRows: number;
  readonly totals: SideBookAmounts;
  readonly coverage: LedgerCoverage;
}

/** An answer, or why there is none: the question cannot be answered as it was asked, or the ledger cannot be read. */
export type SideBookResult =
  | { readonly ok: true; readonly answer: SideBookAnswer }
  | { readonly ok: false; readonly fault: "question" | "ledger"; readonly error: string; readonly nextStep: string };

/** Whether a text names a side book. */
export function isSideBook(text: string): text is SideBook {
  return sideBooks.some((subject) => subject === text);
}

/** Values that a dimension can have; `null`: any text. */
export function sideBookFilterValues(of: SideBook, dimension: string): readonly string[] | null {
  if (dimension === "phase") return waitPhases;
  if (dimension === "sizeClass") return sizeClasses;
  if (dimension === "state") return stateValues(of);
  if (dimension === "kind" && of === "recommendations") return adviceKinds;
  return dimension === "scheduler" ? ["kueue", "kai", "volcano", "none"] : null;
}

function stateValues(of: SideBook): readonly string[] {
  if (of === "nodeStreaks") return nodeStreakStates;
  return of === "nodes" ? nodeTimeStates : adviceStates;
}
