import type { DatabaseSync } from "node:sqlite";
import type { LedgerResult } from "./ledgerQuestion.ts";
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

/** A question about the pools of domains and the models of pools within a window. */
export interface PoolsQuery {
  /** Start of the window [from, to), seconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

/**
 * The pools of quota domains, and the GPU models of pools; each pair appears once, sorted by name. Only those in use on the day
 * of `from` or later are in it. The pools of a domain never change, because its name contains them.
 */
export interface PoolsAnswer extends PoolsQuery {
  readonly domains: readonly { readonly domain: string; readonly pool: string }[];
  readonly models: readonly { readonly pool: string; readonly model: string }[];
}

/** An answer, or the reason why there is none. */
export type PoolsResult = LedgerResult<PoolsAnswer>;
