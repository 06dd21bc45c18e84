import type { GapReason } from "../../model/gapReasons.ts";
import type { Problem } from "../../model/problem.ts";
import type { StoredAdvice, StoredWithheld } from "../../model/storedAdvice.ts";
import type { PastIdleTime } from "../idleHours.ts";
import type { AccruedStep } from "../posting.ts";
import type { EndedOnDay } from "../shapeAccount.ts";
import type { OrProblem } from "./ledgerProblem.ts";

/**
 * A change of what must survive a restart, such as since when a state has lasted. It is kept by kind and key; values are opaque
 * JSON text or seconds.
 */
export interface RememberedChange {
  readonly kind: string;
  readonly key: string;
  /** The new value; `null` removes the old one. */
  readonly value: string | null;
}

/** One cycle's addition to the ledger: either all of it is written, or none of it. */
export interface LedgerEntry {
  readonly step: AccruedStep;
  readonly remembered: readonly RememberedChange[];
  /** Advice that is new or has changed; absent if there is none. */
  readonly advice?: readonly StoredAdvice[];
  /** The reasons why needs were not served that have lasted for another hour, or ended; absent if there are none. */
  readonly withheld?: readonly StoredWithheld[];
}

/** The reason why an interval that the ledger knows is not counted; `not-written` means that its postings could not be kept. */
export type StoredGapReason = GapReason | "not-written";

/**
 * A run of intervals as the ledger keeps it. Times are wall time, seconds since the epoch; `seconds` is counted by a monotonic
 * clock.
 */
export interface LedgerInterval {
  readonly from: number;
  readonly to: number;
  readonly seconds: number;
  /** The reason why the time is not counted; `null` if it is covered and counted. */
  readonly gap: StoredGapReason | null;
}

/** One value that is remembered over a restart. */
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
 * The port of the ledger. `append` returns at once. Entries are written in their order, each in one transaction, outside the
 * thread that runs the cycle. Entries that cannot be written are kept in memory (bounded) and tried again, and `problems`
 * reports this.
 */
export interface Ledger {
  readonly start: LedgerStart;
  append(entry: LedgerEntry): void;
  /** Resolves when everything appended so far is on disk or was given up. */
  flush(): Promise<void>;
  problems(): readonly Problem[];
  /** Writes the entries that still wait, for a few seconds at most, and releases the file. */
  close(): Promise<void>;
}

/** How long the ledger keeps its sums, in days. */
export interface LedgerRetention {
  /** Days for hourly sums, which are folded into daily ones afterwards. */
  readonly hourlyDays: number;
  /** Days for daily sums, and for the record of the covered time. */
  readonly dailyDays: number;
  /** Days for daily sums by workload. */
  readonly workloadDays: number;
}

/** A ledger, or the reason why the file cannot be one. Nothing in a refused file is changed. */
export type OpenedLedger = OrProblem<{ readonly ledger: Ledger }>;
