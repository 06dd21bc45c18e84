import type { StoredAdvice, StoredAdviceDetail } from "../../model/storedAdvice.ts";
import type { LedgerFailure } from "./ledgerQuestion.ts";

/** A question about recommendations that were open at some moment of a window. */
export interface AdviceQuery {
  /** Seconds since the epoch; the window is [from, to). */
  readonly from: number;
  readonly to: number;
  /** The most lifecycles that are returned. */
  readonly limit: number;
}

/** One lifecycle of a recommendation, as it was last reported. */
export interface AdviceLifecycle extends Omit<StoredAdvice, "record"> {
  /** What is in no column; `null` where another version of Fairlead wrote it otherwise. */
  readonly detail: StoredAdviceDetail | null;
}

/** The lifecycles in the order in which they were first seen; `totalRows` also counts those beyond the limit. */
export interface AdviceAnswer {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly AdviceLifecycle[];
  readonly totalRows: number;
}

/** An answer, or why there is none. */
export type AdviceResult = { readonly ok: true; readonly answer: AdviceAnswer } | LedgerFailure;
