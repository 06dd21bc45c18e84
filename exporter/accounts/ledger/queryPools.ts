import type { DatabaseSync } from "node:sqlite";
import type { PoolsQuery, PoolsResult } from "./poolsQuery.ts";
import { secondsPerDay } from "./schema.ts";
import { textIn } from "./sqliteRow.ts";

/** Lists the pools of domains and the GPU models of pools. */
export function queryPools(db: DatabaseSync, { from, to }: PoolsQuery): PoolsResult {
  const since = Math.floor(from / secondsPerDay);
  const domains = db
    .prepare("SELECT DISTINCT domain, pool FROM domain_pools WHERE last_day >= ? ORDER BY domain, pool")
    .all(since)
    .map((row) => ({ domain: textIn(row, "domain"), pool: textIn(row, "pool") }));
  const models = db
    .prepare("SELECT DISTINCT pool, model FROM pool_models WHERE last_day >= ? ORDER BY pool, model")
    .all(since)
    .map((row) => ({ pool: textIn(row, "pool"), model: textIn(row, "model") }));
  return { ok: true, answer: { from, to, domains, models } };
}
