import type { DatabaseSync } from "node:sqlite";
import { filterCondition } from "./groupsAndFilters.ts";
import type { LedgerResult } from "./ledgerQuestion.ts";
import { filtersIn, parseWindow, type QuestionFailure, type QuestionText } from "./parseAccountsQuery.ts";
import { refuseEmpty } from "./queryWindow.ts";
import { secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textOrNullIn } from "./sqliteRow.ts";

/** The columns that prices can be selected by. */
export const priceFilters = [
  "pool",
  "nodePool",
  "instanceType",
  "capacityType",
  "currency",
  "basis",
  "source",
] as const;

type PriceFilter = (typeof priceFilters)[number];

/** A question about the prices that were used within a window of time. */
export interface PriceQuery {
  /** Start of the window [from, to), seconds since the epoch. Any price that was used at some moment of it is listed. */
  readonly from: number;
  readonly to: number;
  /** Allowed values by column; `null` means "none". */
  readonly where: ReadonlyMap<PriceFilter, readonly (string | null)[]>;
  readonly limit: number;
}

/** A price at which nodes of one kind were counted. Without currency and amount, they had no price. */
export interface PriceRow extends Readonly<Record<PriceFilter, string | null>> {
  readonly perGpuHour: number | null;
  /** The date of the price itself when its use began, seconds since the epoch. */
  readonly dated: number | null;
  /** The time of its use, seconds since the epoch; `ends` is `null` while it is still used. */
  readonly begins: number;
  readonly ends: number | null;
}

/** The answer to a `PriceQuery`, sorted by pool, node pool and time. */
export interface PriceAnswer {
  readonly from: number;
  readonly to: number;
  readonly rows: readonly PriceRow[];
  readonly totalRows: number;
}

/** An answer, or the reason why there is none: the question cannot be answered as asked, or the ledger cannot be read. */
export type PriceResult = LedgerResult<PriceAnswer>;

/** The question that a text contains, or the reason why it could not be read. */
export type ParsedPriceQuestion = { readonly ok: true; readonly query: PriceQuery } | QuestionFailure;

/** Reads a question about prices. They are listed one by one, so there is nothing to group by. */
export function parsePriceQuery(text: QuestionText, now: number): ParsedPriceQuestion {
  if (text.by !== null) {
    return { ok: false, error: "prices are not grouped: each is a row", nextStep: "Leave out the dimensions." };
  }
  const filters = filtersIn(text.where, "prices ", priceFilters, () => null);
  if (!filters.ok) return filters;
  const window = parseWindow(text, secondsPerHour, now);
  return window.ok ? { ok: true, query: { ...window.window, where: filters.where, limit: text.limit } } : window;
}

const columns: Readonly<Record<PriceFilter, string>> = {
  pool: "pool",
  nodePool: "node_pool",
  instanceType: "instance_type",
  capacityType: "capacity_type",
  currency: "currency",
  basis: "basis",
  source: "source",
};

/** Lists the prices that were used within a window. */
export function queryPrices(db: DatabaseSync, { from, to, where, limit }: PriceQuery): PriceResult {
  const refused = refuseEmpty(from, to);
  if (refused !== null) return refused;
  const { condition, values } = filterCondition(where, (filter) => columns[filter]);
  const rows: PriceRow[] = [];
  let totalRows = 0;
  const sql = `
    SELECT * FROM price_log WHERE begins < ? AND (ends IS NULL OR ends > ?) AND ${condition}
    ORDER BY pool, node_pool, begins, id`;
  for (const row of db.prepare(sql).iterate(to, from, ...values)) {
    totalRows += 1;
    if (rows.length < limit) rows.push(priceIn(row));
  }
  return { ok: true, answer: { from, to, rows, totalRows } };
}

function priceIn(row: SqliteRow): PriceRow {
  return {
    pool: textOrNullIn(row, "pool"),
    nodePool: textOrNullIn(row, "node_pool"),
    instanceType: textOrNullIn(row, "instance_type"),
    capacityType: textOrNullIn(row, "capacity_type"),
    currency: textOrNullIn(row, "currency"),
    basis: textOrNullIn(row, "basis"),
    source: textOrNullIn(row, "source"),
    perGpuHour: numberOrNullIn(row, "per_gpu_hour"),
    dated: numberOrNullIn(row, "dated"),
    begins: numberIn(row, "begins"),
    ends: numberOrNullIn(row, "ends"),
  };
}
