import type { DatabaseSync } from "node:sqlite";
import { adviceDetailOf, type StoredAdvice, type StoredAdviceDetail } from "../../model/storedAdvice.ts";
import { adviceColumns, adviceIn } from "./adviceWriter.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";
import { refuseEmpty } from "./queryWindow.ts";

/** A question about recommendations that were open at some moment of a window. */
export interface AdviceQuery {
  /** Start of the window [from, to), seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** The most lifecycles that are returned. */
  readonly limit: number;
}

/** One lifecycle of a recommendation, as it was last reported. */
export interface AdviceLifecycle extends Omit<StoredAdvice, "record"> {
  /** The part that has no columns of its own; `null` where another version of Fairlead wrote it in another form. */
  readonly detail: StoredAdviceDetail | null;
}

/** The lifecycles in the order in which they were first seen; `totalRows` also counts those beyond the limit. */
export interface AdviceAnswer {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly AdviceLifecycle[];
  readonly totalRows: number;
}

/** An answer, or the reason why there is none. */
export type AdviceResult = LedgerResult<AdviceAnswer>;

/**
 * Lists the recommendations that were open at some moment of a window. Those of kinds or states that this version does not know
 * are left out.
 */
export function queryAdvice(db: DatabaseSync, { from, to, limit }: AdviceQuery): AdviceResult {
  const refused = refuseEmpty(from, to);
  if (refused !== null) return refused;
  const rows: AdviceLifecycle[] = [];
  let totalRows = 0;
  const sql = `
    SELECT ${adviceColumns.join(", ")} FROM recommendations
    WHERE first_seen < ? AND (closed IS NULL OR closed >= ?) ORDER BY first_seen, id`;
  for (const row of db.prepare(sql).iterate(to, from)) {
    const advice = adviceIn(row);
    if (advice === null) continue;
    totalRows += 1;
    if (rows.length >= limit) continue;
    const { record, ...said } = advice;
    rows.push({ ...said, detail: adviceDetailOf(record) });
  }
  return { ok: true, answer: { from, to, rows, totalRows } };
}
