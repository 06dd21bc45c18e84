import type { Problem } from "../../model/problem.ts";
import type { AccruedStep, StepInterval } from "../posting.ts";

/** What must survive a restart: since when something is so, by kind and key. Values are opaque JSON text or seconds. */
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
}

/** What a process finds when it opens the ledger. */
export interface LedgerStart {
  /** The last interval that was written; `null` in a new ledger. */
  readonly lastInterval: StepInterval | null;
  readonly remembered: readonly { readonly kind: string; readonly key: string; readonly value: string }[];
}

/**
 * The port behind which the ledger stands. `append` returns at once; entries are written in their order, each in one
 * transaction, outside the thread that runs the cycle. What cannot be written is kept in memory (bounded) and tried
 * again; `problems` says so.
 */
export interface Ledger {
  readonly start: LedgerStart;
  append(entry: LedgerEntry): void;
  /** Resolves when everything appended so far is on disk or given up. */
  flush(): Promise<void>;
  problems(): readonly Problem[];
  close(): Promise<void>;
}
