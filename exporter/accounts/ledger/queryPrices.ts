import type { DatabaseSync } from "node:sqlite";
import { isoTime } from "../../kernel/isoTime.ts";
import { filterCondition } from "./filterCondition.ts";
import type { PriceFilter, PriceQuery, PriceResult, PriceRow } from "./priceQuery.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textOrNullIn } from "./sqliteRow.ts";

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
  if (!(from < to)) {
    const error = `the window ends (${isoTime(to)}) before it begins (${isoTime(from)})`;
    return { ok: false, fault: "question", error, nextStep: "Give a later end." };
  }
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
