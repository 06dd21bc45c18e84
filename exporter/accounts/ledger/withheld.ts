import type { DatabaseSync } from "node:sqlite";
import { type AdviceKind, adviceKinds, type WithheldReason, withheldReasons } from "../../model/recommendation.ts";
import type { StoredWithheld } from "../../model/storedAdvice.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";
import { refuseEmpty } from "./queryWindow.ts";
import { numberIn, textIn } from "./sqliteRow.ts";

/** A question about plans that were not advised within a window. */
export interface WithheldQuery {
  /** Start of the window [from, to), seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** The most reasons that are returned: those that lasted longest. */
  readonly limit: number;
}

/** The reason why a need was not served, and the part of the window in which it lasted. */
export interface WithheldTime {
  readonly kind: AdviceKind;
  readonly subject: string;
  readonly why: WithheldReason;
  /** The reason in words, as it was last reported. */
  readonly reason: string;
  readonly seconds: number;
}

export interface WithheldAnswer {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly WithheldTime[];
  /** The number of all rows, including those beyond the limit. */
  readonly totalRows: number;
}

/** An answer, or the reason why there is none. */
export type WithheldResult = LedgerResult<WithheldAnswer>;

/** Adds up how long each reason lasted; time that several replicas saw counts once. */
export function queryWithheld(db: DatabaseSync, { from, to, limit }: WithheldQuery): WithheldResult {
  const refused = refuseEmpty(from, to);
  if (refused !== null) return refused;
  const found = new Map<string, WithheldTime & { readonly until: number }>();
  const sql = "SELECT * FROM withheld_advice WHERE begins < ? AND ends >= ? ORDER BY begins, ends";
  for (const row of db.prepare(sql).iterate(to, from)) {
    const kind = adviceKinds.find((one) => one === textIn(row, "kind"));
    const why = withheldReasons.find((one) => one === textIn(row, "why"));
    if (kind === undefined || why === undefined) continue;
    const id = textIn(row, "id");
    const known = found.get(id);
    const begins = Math.max(from, numberIn(row, "begins"), known?.until ?? from);
    const until = Math.max(begins, Math.min(to, numberIn(row, "ends")));
    const seconds = (known?.seconds ?? 0) + until - begins;
    found.set(id, { kind, subject: textIn(row, "subject"), why, reason: textIn(row, "reason"), seconds, until });
  }
  const rows = [...found.values()]
    .map(({ until: _, ...row }) => row)
    .sort((a, b) => b.seconds - a.seconds || (a.reason < b.reason ? -1 : 1));
  return { ok: true, answer: { from, to, rows: rows.slice(0, limit), totalRows: rows.length } };
}

const columns = "id, begins, ends, kind, subject, why, reason";

/** The most rows about withheld advice in an entry that waits. */
const mostWaiting = 1000;

/** Creates the writer of the reasons why needs were not served. */
export function createWithheldWriter(db: DatabaseSync) {
  const put = db.prepare(`INSERT OR REPLACE INTO withheld_advice (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    write(withheld: readonly StoredWithheld[]): void {
      for (const { id, begins, ends, kind, subject, why, reason } of withheld)
        put.run(id, begins, ends, kind, subject, why, reason);
    },
  };
}

/** Merges the rows of waiting entries: the last report of each row is kept. */
export function mergeWithheld(
  earlier: readonly StoredWithheld[],
  later: readonly StoredWithheld[],
): readonly StoredWithheld[] {
  if (later.length === 0) return earlier;
  const last = new Map([...earlier, ...later].map((one) => [`${one.id} ${one.begins}`, one] as const));
  return [...last.values()].slice(-mostWaiting);
}

/** Writes the rows of replicas. Each replica saw the same for itself, but queries add up time and not rows. */
export function mergeWithheldOf(db: DatabaseSync, sources: readonly string[]): void {
  for (const name of sources)
    db.exec(
      `INSERT INTO main.withheld_advice (${columns}) SELECT ${columns} FROM ${name}.withheld_advice WHERE true
       ON CONFLICT DO UPDATE SET ends = max(ends, excluded.ends)`,
    );
}
