import type { DatabaseSync } from "node:sqlite";
import { type AdviceKind, adviceKinds, type WithheldReason, withheldReasons } from "../../model/recommendation.ts";
import type { StoredWithheld } from "../../model/storedAdvice.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";
import { refuseEmpty } from "./queryWindow.ts";
import { numberIn, textIn } from "./sqliteRow.ts";

/** A question about what was not advised in a window. */
export interface WithheldQuery {
  /** Seconds since the epoch; the window is [from, to). */
  readonly from: number;
  readonly to: number;
  /** The most reasons that are returned, those that lasted longest. */
  readonly limit: number;
}

/** Why a need was not served, and for how much of the window. */
export interface WithheldTime {
  readonly kind: AdviceKind;
  readonly subject: string;
  readonly why: WithheldReason;
  /** As it was last reported. */
  readonly reason: string;
  readonly seconds: number;
}

export interface WithheldAnswer {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly WithheldTime[];
  /** Also counts those beyond the limit. */
  readonly totalRows: number;
}

/** An answer, or why there is none. */
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

/** The most such rows in an entry that waits. */
const mostWaiting = 1000;

/** Writes why needs were not served. */
export function createWithheldWriter(db: DatabaseSync) {
  const put = db.prepare(`INSERT OR REPLACE INTO withheld_advice (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return {
    write(withheld: readonly StoredWithheld[]): void {
      for (const { id, begins, ends, kind, subject, why, reason } of withheld)
        put.run(id, begins, ends, kind, subject, why, reason);
    },
  };
}

/** Merges those of waiting entries: the last report of each row. */
export function mergeWithheld(
  earlier: readonly StoredWithheld[],
  later: readonly StoredWithheld[],
): readonly StoredWithheld[] {
  if (later.length === 0) return earlier;
  const last = new Map([...earlier, ...later].map((one) => [`${one.id} ${one.begins}`, one] as const));
  return [...last.values()].slice(-mostWaiting);
}

/** Writes the rows of replicas: each saw the same for itself, and queries add up time and not rows. */
export function mergeWithheldOf(db: DatabaseSync, sources: readonly string[]): void {
  for (const name of sources)
    db.exec(
      `INSERT INTO main.withheld_advice (${columns}) SELECT ${columns} FROM ${name}.withheld_advice WHERE true
       ON CONFLICT DO UPDATE SET ends = max(ends, excluded.ends)`,
    );
}
