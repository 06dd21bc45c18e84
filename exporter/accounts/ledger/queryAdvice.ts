import type { DatabaseSync } from "node:sqlite";
import { isoTime } from "../../kernel/isoTime.ts";
import { adviceDetailOf } from "../../model/storedAdvice.ts";
import type { AdviceLifecycle, AdviceQuery, AdviceResult } from "./adviceQuery.ts";
import { adviceColumns, adviceIn } from "./adviceWriter.ts";

/**
 * Lists the recommendations that were open at some moment of a window; those of kinds or states that this version does not
 * know are left out.
 */
export function queryAdvice(db: DatabaseSync, { from, to, limit }: AdviceQuery): AdviceResult {
  if (!(from < to)) {
    const error = `the window ends (${isoTime(to)}) before it begins (${isoTime(from)})`;
    return { ok: false, fault: "question", error, nextStep: "Give a later end." };
  }
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
