import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Budget } from "../../../../exporter/history/budget.ts";
import type { Days } from "../../../../review/window.ts";
import type { Leaf } from "../../flatten.ts";

/** What a review was asked, and the ledger that plain SQL is asked of. */
export interface SqlQuestion {
  readonly db: DatabaseSync;
  readonly cluster: string;
  readonly days: Days;
  /** The oldest first. */
  readonly before: readonly Days[];
  readonly team: string | null;
  readonly now: number;
  readonly budgets: readonly Budget[];
  readonly notCharged: readonly string[];
}

/** What the document must say, by place (`flatten`). */
export type Expected = Map<string, Leaf>;

export type Row = Readonly<Record<string, unknown>>;

/** Rows of a statement, in which `:from` and `:to` are of `window` and `:team` is the one team or NULL. */
export function rowsOf(
  question: Pick<SqlQuestion, "db" | "team">,
  window: { readonly from: number; readonly to: number },
  sql: string,
  more: Readonly<Record<string, SQLInputValue>> = {},
): readonly Row[] {
  const statement = question.db.prepare(sql);
  statement.setAllowUnknownNamedParameters(true);
  return statement.all({ from: window.from, to: window.to, team: question.team, ...more });
}

/** The one row of a statement. */
export function rowOf(...args: Parameters<typeof rowsOf>): Row {
  const [row = {}] = rowsOf(...args);
  return row;
}

/** A number of a row; NULL (a sum of nothing) is 0. */
export const num = (row: Row, name: string): number => Number(row[name] ?? 0);

/** A number of a row; NULL is `null`. */
export const numOrNull = (row: Row, name: string): number | null => (row[name] === null ? null : num(row, name));

export const text = (row: Row, name: string): string => String(row[name] ?? "");

/** Notes money by currency. */
export function noteCosts(expected: Expected, place: string, rows: readonly Row[], column = "cost"): void {
  for (const row of rows)
    if (row.currency !== null && row[column] !== null)
      expected.set(`${place}.${text(row, "currency")}`, num(row, column));
}

export const iso = (at: number): string =>
  new Date(at * 1000)
    .toISOString()
    .replace(".000", "")
    .replace(/\.\d+Z/, "Z");

/** GPU time of the window, of all or of one team. */
export const gpuTime = `gpu_time t JOIN accounts a ON a.id = t.account
  WHERE t.daily IN (0, 1) AND t.hour >= :from / 3600 AND t.hour < :to / 3600 AND (:team IS NULL OR a.team = :team)`;

export const allocatedStates = `('active', 'underutilized', 'idle', 'stalled', 'starting', 'gang_wait', 'unobserved')`;
export const seenStates = `('active', 'underutilized', 'idle', 'stalled')`;
export const wastedStates = `('underutilized', 'idle', 'stalled')`;
