import type { GapReason } from "../../model/gapReasons.ts";
import type { Problem } from "../../model/problem.ts";
import type { StoredAdvice, StoredWithheld } from "../../model/storedAdvice.ts";
import type { PastIdleTime } from "../idleHours.ts";
import type { AccruedStep } from "../posting.ts";
import type { EndedOnDay } from "../shapeAccount.ts";
import type { OrProblem } from "./ledgerProblem.ts";

/**
 * What must survive a restart, such as since when a state has lasted, by kind and key. Values are opaque JSON text or seconds.
 */
export interface RememberedChange {
  readonly kind: string;
  readonly key: string;
  /** `null` removes it. */
  readonly value: string | null;
}

/** One cycle's addition to the ledger: all of it is written, or nothing. */
export interface LedgerEntry {
  readonly step: AccruedStep;
  readonly remembered: readonly RememberedChange[];
  /** Advice that is new or has changed; absent: none. */
  readonly advice?: readonly StoredAdvice[];
  /** Why needs were not served: reasons that have lasted for another hour, or ended; absent: none. */
  readonly withheld?: readonly StoredWithheld[];
}

/** Why an interval that the ledger knows is not counted; `not-written`: its postings could not be kept. */
export type StoredGapReason = GapReason | "not-written";

/**
 * A run of intervals as the ledger keeps it. Times are wall time, seconds since the epoch; `seconds` is counted by a monotonic
 * clock.
 */
export interface LedgerInterval {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  /** `null`: covered, and counted. */
  readonly gap: StoredGapReason | null;
}

/** One thing that is remembered. */
export interface Remembered {
  readonly kind: string;
  readonly key: string;
  readonly value: string;
}

/** What a process finds when it opens the ledger. */
export interface LedgerStart {
  /** The last run of intervals that was written; `null` in a new ledger. */
  readonly lastInterval: LedgerInterval | null;
  readonly remembered: readonly Remembered[];
  /** Pods that ended on the last eight days on which pods ended, by shape; absent in a new ledger. */
  readonly endedShapes?: readonly EndedOnDay[];
  /** The time of idle nodes in the last seven days; absent in a new ledger. */
  readonly idleTime?: PastIdleTime;
  /** Advice that is open, or closed within the last 30 days; absent in a new ledger. */
  readonly advice?: readonly StoredAdvice[];
}

/**
 * The port of the ledger. `append` returns at once; entries are written in their order, each in one transaction, outside the
 * thread that runs the cycle. What cannot be written is kept in memory (bounded) and tried again; `problems` says so.
 */
export interface Ledger {
  readonly start: LedgerStart;
  append(entry: LedgerEntry): void;
  /** Resolves when everything appended so far is on disk or given up. */
  flush(): Promise<void>;
  problems(): readonly Problem[];
  /** Writes what is still waiting, for a few seconds at most, and lets go of the file. */
  close(): Promise<void>;
}

/** How long the ledger keeps its sums, in days. */
export interface LedgerRetention {
  /** Hourly sums, which are folded into daily ones afterwards. */
  readonly hourlyDays: number;
  /** Daily sums, and the record of what was covered. */
  readonly dailyDays: number;
  /** Daily sums by workload. */
  readonly workloadDays: number;
}

/** A ledger, or why the file cannot be one; nothing in a refused file is changed. */
export type OpenedLedger = OrProblem<{ readonly ledger: Ledger }>;
