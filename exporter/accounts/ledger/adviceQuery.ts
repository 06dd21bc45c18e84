import type { StoredAdvice } from "../../model/storedAdvice.ts";
import type { StoredAdviceDetail } from "../../model/storedAdviceDetail.ts";
import type { LedgerFailure } from "./ledgerQuestion.ts";

/** A question about recommendations that were open at some moment of a window. */
export interface AdviceQuery {
  /** Seconds since the epoch; the window is [from, to). */
  readonly from: number;
  readonly to: number;
  /** Lives that are returned at most. */
  readonly limit: number;
}

/** One life of a recommendation, as it was said last. */
export interface AdviceLifecycle extends Omit<StoredAdvice, "record"> {
  /** What no column has; `null` where another version of Fairlead wrote it otherwise. */
  readonly detail: StoredAdviceDetail | null;
}

/** The lives by when they were first seen; `totalRows` counts those beyond the limit, too. */
export interface AdviceAnswer {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly AdviceLifecycle[];
  readonly totalRows: number;
}

/** An answer, or why there is none. */
export type AdviceResult = { readonly ok: true; readonly answer: AdviceAnswer } | LedgerFailure;
