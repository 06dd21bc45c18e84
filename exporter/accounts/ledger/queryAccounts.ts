import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type {
  AccountDimension,
  AccountFilter,
  AccountSums,
  AccountsQuery,
  AccountsResult,
  AccountsRow,
} from "./accountsQuery.ts";
import { isByWorkload } from "./accountsQuery.ts";
import { filterCondition, groupValue } from "./groupsAndFilters.ts";
import { coverageOf } from "./intervalLog.ts";
import { refuseWindow } from "./queryWindow.ts";
import { hoursPerDay, secondsPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textIn } from "./sqliteRow.ts";
import { atOneMoment } from "./transaction.ts";

const columns: Readonly<Record<AccountFilter, string>> = {
  pool: "a.pool",
  nodePool: "a.node_pool",
  capacityType: "a.capacity_type",
  team: "a.team",
  queue: "a.queue",
  namespace: "a.namespace",
  priorityClass: "a.priority_class",
  state: "a.state",
  currency: "a.currency",
  workload: "w.kind || '/' || w.namespace || '/' || w.name",
};

/**
 * Answers a question from one moment of the ledger. With `workload` among the groups or filters, it counts allocated time by
 * whole days; otherwise, it counts all time.
 */
export function queryAccounts(db: DatabaseSync, query: AccountsQuery): AccountsResult {
  return atOneMoment(db, () => {
    const refused = refuseWindow(db, query);
    if (refused !== null) return refused;
    const { from, to, groupBy } = query;
    const answer = { from, to, groupBy, ...readGroups(db, query), coverage: coverageOf(db, from, to) };
    return { ok: true, answer };
  });
}

function readGroups(db: DatabaseSync, query: AccountsQuery) {
  const currencies = currenciesOf(db);
  const { sql, values } = statement(query, currencies);
  const rows: AccountsRow[] = [];
  let totalRows = 0;
  let totals = noTime;
  for (const row of db.prepare(sql).iterate(...values)) {
    const sums = sumsIn(row, currencies);
    if (sums === null) continue;
    totalRows += 1;
    totals = addSums(totals, sums);
    if (rows.length < query.limit) {
      rows.push({ values: query.groupBy.map((dimension, i) => groupValue(row, `g${i}`, dimension)), ...sums });
    }
  }
  return { rows, totalRows, totals };
}

const noTime: AccountSums = {
  gpuSeconds: 0,
  estimatedGpuSeconds: 0,
  energyJoules: null,
  meteredGpuSeconds: 0,
  costs: new Map(),
  cost: null,
  pricedGpuSeconds: 0,
};

/** The most currencies that are read; costs in others are left out. Only a price file could name more. */
const mostCurrencies = 100;

/** The currencies of all accounts. Costs in different currencies are never added up: each has a sum of its own. */
function currenciesOf(db: DatabaseSync): readonly string[] {
  return db
    .prepare(
      `SELECT DISTINCT currency FROM accounts WHERE currency IS NOT NULL ORDER BY currency LIMIT ${mostCurrencies}`,
    )
    .all()
    .map((row) => textIn(row, "currency"));
}

/**
 * The statement of a question. Rows are added up by account before accounts are joined, because there are far fewer accounts
 * than rows.
 */
function statement(
  query: AccountsQuery,
  currencies: readonly string[],
): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  const byWorkload = isByWorkload(query);
  const period = periodOf(query.groupBy, byWorkload);
  const source = byWorkload
    ? { table: "workload_time", window: "day >= ? AND day < ?", keys: ["account", "workload"], seconds: secondsPerDay }
    : {
        table: "gpu_time",
        window: "daily IN (0, 1) AND hour >= ? AND hour < ?",
        keys: ["account"],
        seconds: secondsPerHour,
      };
  const keys = [...source.keys, ...(period === null ? [] : [`${period} AS period`])].join(", ");
  const groups = [...source.keys, ...(period === null ? [] : ["period"])].join(", ");
  const { condition, values } = filterCondition(query.where, (filter) => columns[filter]);
  const selected = query.groupBy.map((dimension, i) => `${expression(dimension)} AS g${i}`);
  const aliases = query.groupBy.map((_, i) => `g${i}`);
  const order = [...aliases.filter((_, i) => isTime(query.groupBy[i])), "gpu DESC", ...aliases];
  const sums = [
    ...sumNames.map((name) => `sum(t.${name}) AS ${name}`),
    "sum(CASE WHEN a.currency IS NULL THEN 0 ELSE t.gpu END) AS priced",
    ...currencies.map((_, i) => `sum(CASE WHEN a.currency = ? THEN t.cost END) AS cost${i}`),
  ];
  const sql = `
    SELECT ${[...selected, ...sums].join(", ")}
    FROM (
      SELECT ${keys}, sum(gpu_seconds) AS gpu, sum(estimated_gpu_seconds) AS estimated,
        sum(unmetered_gpu_seconds) AS unmetered, sum(energy_joules) AS energy, sum(cost) AS cost
      FROM ${source.table} WHERE ${source.window} GROUP BY ${groups}
    ) t
    JOIN accounts a ON a.id = t.account
    ${byWorkload ? "JOIN workloads w ON w.id = t.workload" : ""}
    WHERE ${condition}
    ${aliases.length === 0 ? "" : `GROUP BY ${aliases.join(", ")}`}
    ORDER BY ${order.join(", ")}`;
  return { sql, values: [...currencies, query.from / source.seconds, query.to / source.seconds, ...values] };
}

const sumNames = ["gpu", "estimated", "unmetered", "energy"] as const;

const isTime = (dimension: AccountDimension | undefined): boolean => dimension === "day" || dimension === "hour";

/** The column of the inner statement by which times are grouped: hours or days since the epoch. */
function periodOf(groupBy: readonly AccountDimension[], byWorkload: boolean): string | null {
  if (groupBy.includes("hour")) return "hour";
  if (groupBy.includes("day")) return byWorkload ? "day" : `hour / ${hoursPerDay}`;
  return null;
}

function expression(dimension: AccountDimension): string {
  return dimension === "day" || dimension === "hour" ? "t.period" : columns[dimension];
}

/** The sums of a row; `null` for the only row of an empty sum. */
function sumsIn(row: SqliteRow, currencies: readonly string[]): AccountSums | null {
  const gpuSeconds = numberOrNullIn(row, "gpu");
  if (gpuSeconds === null) return null;
  const costs = new Map<string, number>();
  for (const [i, currency] of currencies.entries()) {
    const cost = numberOrNullIn(row, `cost${i}`);
    if (cost !== null) costs.set(currency, cost);
  }
  return {
    gpuSeconds,
    estimatedGpuSeconds: numberIn(row, "estimated"),
    energyJoules: numberOrNullIn(row, "energy"),
    meteredGpuSeconds: gpuSeconds - numberIn(row, "unmetered"),
    costs,
    cost: onlyOne(costs),
    pricedGpuSeconds: numberIn(row, "priced"),
  };
}

function addSums(one: AccountSums, other: AccountSums): AccountSums {
  const unknown = one.energyJoules === null && other.energyJoules === null;
  const costs = new Map(one.costs);
  for (const [currency, cost] of other.costs) costs.set(currency, (costs.get(currency) ?? 0) + cost);
  return {
    gpuSeconds: one.gpuSeconds + other.gpuSeconds,
    estimatedGpuSeconds: one.estimatedGpuSeconds + other.estimatedGpuSeconds,
    energyJoules: unknown ? null : (one.energyJoules ?? 0) + (other.energyJoules ?? 0),
    meteredGpuSeconds: one.meteredGpuSeconds + other.meteredGpuSeconds,
    costs,
    cost: onlyOne(costs),
    pricedGpuSeconds: one.pricedGpuSeconds + other.pricedGpuSeconds,
  };
}

function onlyOne(costs: ReadonlyMap<string, number>): number | null {
  const [first = null, ...others] = costs.values();
  return others.length === 0 ? first : null;
}
