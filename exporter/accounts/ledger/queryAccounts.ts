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
import { coverageOf } from "./coverage.ts";
import { isoDay, isoTime } from "./isoTime.ts";
import { refuseWindow } from "./queryWindow.ts";
import { hoursPerDay, secondsPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textIn } from "./sqliteRow.ts";

const columns: Readonly<Record<AccountFilter, string>> = {
  pool: "a.pool",
  nodePool: "a.node_pool",
  capacityType: "a.capacity_type",
  team: "a.team",
  queue: "a.queue",
  namespace: "a.namespace",
  priorityClass: "a.priority_class",
  state: "a.state",
  workload: "w.kind || '/' || w.namespace || '/' || w.name",
};

/**
 * Answers a question from one moment of the ledger. With `workload` among the groups or filters it counts what was held,
 * by whole days; without, everything.
 */
export function queryAccounts(db: DatabaseSync, query: AccountsQuery): AccountsResult {
  db.exec("BEGIN");
  try {
    const refusal = refuseWindow(db, query);
    if (refusal !== null) return { ok: false, fault: "question", ...refusal };
    const { rows, totalRows, totals } = readGroups(db, query);
    const { from, to, groupBy } = query;
    const coverage = coverageOf(db, from, to);
    return { ok: true, answer: { from, to, groupBy, rows, totalRows, totals, coverage } };
  } finally {
    db.exec("COMMIT");
  }
}

function readGroups(db: DatabaseSync, query: AccountsQuery) {
  const { sql, values } = statement(query);
  const rows: AccountsRow[] = [];
  let totalRows = 0;
  let totals: AccountSums = { gpuSeconds: 0, estimatedGpuSeconds: 0, energyJoules: null, meteredGpuSeconds: 0 };
  for (const row of db.prepare(sql).iterate(...values)) {
    const sums = sumsIn(row);
    if (sums === null) continue;
    totalRows += 1;
    totals = addSums(totals, sums);
    if (rows.length < query.limit) {
      rows.push({ values: query.groupBy.map((dimension, i) => valueIn(row, `g${i}`, dimension)), ...sums });
    }
  }
  return { rows, totalRows, totals };
}

/** Rows are added up by account before accounts are looked at: there are far fewer accounts than rows. */
function statement(query: AccountsQuery): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
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
  const { condition, values } = conditions(query.where);
  const selected = query.groupBy.map((dimension, i) => `${expression(dimension)} AS g${i}`);
  const aliases = query.groupBy.map((_, i) => `g${i}`);
  const order = [...aliases.filter((_, i) => isTime(query.groupBy[i])), "gpu DESC", ...aliases];
  const sql = `
    SELECT ${[...selected, ...sumNames.map((name) => `sum(t.${name}) AS ${name}`)].join(", ")}
    FROM (
      SELECT ${keys}, sum(gpu_seconds) AS gpu, sum(estimated_gpu_seconds) AS estimated,
        sum(unmetered_gpu_seconds) AS unmetered, sum(energy_joules) AS energy
      FROM ${source.table} WHERE ${source.window} GROUP BY ${groups}
    ) t
    JOIN accounts a ON a.id = t.account
    ${byWorkload ? "JOIN workloads w ON w.id = t.workload" : ""}
    WHERE ${condition}
    ${aliases.length === 0 ? "" : `GROUP BY ${aliases.join(", ")}`}
    ORDER BY ${order.join(", ")}`;
  return { sql, values: [query.from / source.seconds, query.to / source.seconds, ...values] };
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

function conditions(where: AccountsQuery["where"]): { readonly condition: string; readonly values: readonly string[] } {
  const parts = ["1"];
  const values: string[] = [];
  for (const [filter, allowed] of where) {
    const texts = allowed.filter((value) => value !== null);
    const places = texts.map(() => "?").join(", ");
    const none = allowed.includes(null) ? ` OR ${columns[filter]} IS NULL` : "";
    parts.push(`(${columns[filter]} IN (${places})${none})`);
    values.push(...texts);
  }
  return { condition: parts.join(" AND "), values };
}

/** The sums of a row; `null` for the one row of an empty sum. */
function sumsIn(row: SqliteRow): AccountSums | null {
  const gpuSeconds = numberOrNullIn(row, "gpu");
  if (gpuSeconds === null) return null;
  return {
    gpuSeconds,
    estimatedGpuSeconds: numberIn(row, "estimated"),
    energyJoules: numberOrNullIn(row, "energy"),
    meteredGpuSeconds: gpuSeconds - numberIn(row, "unmetered"),
  };
}

function addSums(one: AccountSums, other: AccountSums): AccountSums {
  const unknown = one.energyJoules === null && other.energyJoules === null;
  return {
    gpuSeconds: one.gpuSeconds + other.gpuSeconds,
    estimatedGpuSeconds: one.estimatedGpuSeconds + other.estimatedGpuSeconds,
    energyJoules: unknown ? null : (one.energyJoules ?? 0) + (other.energyJoules ?? 0),
    meteredGpuSeconds: one.meteredGpuSeconds + other.meteredGpuSeconds,
  };
}

function valueIn(row: SqliteRow, column: string, dimension: AccountDimension): string | null {
  if (row[column] === null) return null;
  if (dimension === "day") return isoDay(numberIn(row, column) * secondsPerDay);
  if (dimension === "hour") return isoTime(numberIn(row, column) * secondsPerHour);
  return textIn(row, column);
}
