import { queueGpuAmounts } from "../posting.ts";
import type { LedgerCoverage } from "./accountsQuery.ts";
import { sizeClasses } from "./waitBucket.ts";

/** What the ledger can be asked about queues. */
export const queueSubjects = ["queues", "waits", "evictions"] as const;

export type QueueSubject = (typeof queueSubjects)[number];

/** By what each can be grouped; all but times can choose rows. A workload is `KIND/NAMESPACE/NAME` of what was evicted. */
export const queueDimensions = {
  queues: ["day", "hour", "scheduler", "kind", "queue", "domain", "team"],
  waits: ["day", "queue", "team", "priorityClass", "sizeClass", "phase"],
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
} as const satisfies Readonly<Record<QueueSubject, readonly string[]>>;

/** By what an answer is grouped when nothing is said. */
export const defaultGroups: Readonly<Record<QueueSubject, string>> = {
  queues: "queue,domain",
  waits: "queue,priorityClass,phase",
  evictions: "queue,reason",
};

/**
 * The amounts of each row. `queues`: seconds and GPU-seconds, and `deviationRatio`: deviation over entitlement of the
 * judged time. `waits`: their number, and seconds; p50 and p95 are exact to a fifth. `evictions`: their number, and
 * GPU-seconds; `unknownLost` counts those of which nobody knows what was lost.
 */
export const queueAnswerAmounts = {
  queues: [...queueGpuAmounts, "deviationRatio", "judgedSeconds", "seconds"],
  waits: ["waits", "meanSeconds", "p50Seconds", "p95Seconds", "seconds"],
  evictions: ["evictions", "preemptions", "gpus", "lostGpuSeconds", "upperBoundGpuSeconds", "unknownLost"],
} as const satisfies Readonly<Record<QueueSubject, readonly string[]>>;

/** A question about queues in a window of time. */
export interface QueueQuery {
  readonly of: QueueSubject;
  /** Seconds since the epoch; the window is [from, to): whole hours, whole days (UTC) of waits and where hours are folded. */
  readonly from: number;
  readonly to: number;
  /** Some of `queueDimensions`. */
  readonly groupBy: readonly string[];
  /** Allowed values; `null` is "none". */
  readonly where: ReadonlyMap<string, readonly (string | null)[]>;
  /** Groups that are returned, the largest first (within a day or hour, which come first). The totals count all. */
  readonly limit: number;
}

/** Amounts by name; `null` where one is not known, or there is nothing to divide by. */
export type QueueAmounts = Readonly<Record<string, number | null>>;

/** One group. Values stand in the order of `groupBy`; days are `2026-11-21`, hours `2026-11-21T07:00:00Z`. */
export interface QueueAnswerRow {
  readonly values: readonly (string | null)[];
  readonly amounts: QueueAmounts;
}

/** The answer to a `QueueQuery`. */
export interface QueueAnswer {
  readonly of: QueueSubject;
  readonly from: number;
  readonly to: number;
  readonly groupBy: readonly string[];
  readonly rows: readonly QueueAnswerRow[];
  readonly totalRows: number;
  readonly totals: QueueAmounts;
  readonly coverage: LedgerCoverage;
}

/** An answer, or why there is none: the question cannot be answered as it was asked, or the ledger cannot be read. */
export type QueueResult =
  | { readonly ok: true; readonly answer: QueueAnswer }
  | { readonly ok: false; readonly fault: "question" | "ledger"; readonly error: string; readonly nextStep: string };

export function isQueueSubject(text: string): text is QueueSubject {
  return queueSubjects.some((subject) => subject === text);
}

/** Values that a dimension can have; `null`: any text. */
export function queueFilterValues(dimension: string): readonly string[] | null {
  if (dimension === "phase") return ["admission", "start"];
  if (dimension === "sizeClass") return sizeClasses;
  return dimension === "scheduler" ? ["kueue", "kai", "volcano", "none"] : null;
}
