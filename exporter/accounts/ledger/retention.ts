import type { DatabaseSync } from "node:sqlite";
import type { LedgerRetention } from "./ledger.ts";
import { hoursPerDay, secondsPerDay, secondsPerHour } from "./schema.ts";
import { numberOrNullIn } from "./sqliteRow.ts";
import { addToExisting, allSumTables, dimensions } from "./tables.ts";
import { inTransaction } from "./transaction.ts";

/** The approximate number of rows in one slice, which takes much less time than there is between two cycles. */
const sliceRows = 5000;

/** Folds old hours and prunes rows that are kept no longer, a little at a time. */
export interface Retention {
  /**
   * Folds one hour of sums, or prunes a few thousand rows, in a transaction of its own. Returns whether there is more to do.
   * Totals by day do not change.
   */
  slice(): boolean;
}

/** Creates the retention of an open ledger. Once everything of a day is done, it begins again on the next day. */
export function createRetention(db: DatabaseSync, keep: LedgerRetention): Retention {
  let doneOn: number | null = null;
  return {
    slice() {
      const today = coveredDay(db);
      if (today === null || today === doneOn) return false;
      const firstDay = today - keep.dailyDays;
      const firstSecond = firstDay * secondsPerDay;
      const more = inTransaction(
        db,
        () =>
          foldHour(db, (today - keep.hourlyDays) * hoursPerDay) ||
          pruneHour(db, firstDay * hoursPerDay) ||
          pruneWorkloads(db, today - keep.workloadDays) ||
          pruneDay(db, "served_time", today - keep.workloadDays) ||
          pruneDay(db, "waits", firstDay) ||
          pruneRows(db, "evictions", "key", "at", firstSecond, "at") ||
          pruneRows(db, "failures", "key", "at", firstSecond, "at") ||
          pruneDay(db, "pod_shapes", firstDay) ||
          // Open recommendations, prices in use and streaks that have not ended stay.
          pruneRows(db, "recommendations", "rowid", "closed", firstSecond) ||
          pruneRows(db, "withheld_advice", "id, begins", "ends", firstSecond) ||
          pruneRows(db, "price_log", "id", "ends", firstSecond) ||
          pruneRows(db, "domain_time", "hour, domain", "hour", firstDay * hoursPerDay) ||
          pruneRows(db, "placement_time", "hour, pool", "hour", firstDay * hoursPerDay) ||
          pruneRows(db, "topology_time", "hour, pool, level", "hour", firstDay * hoursPerDay) ||
          pruneRows(db, "health_time", "hour, health_group", "hour", firstDay * hoursPerDay) ||
          pruneRows(db, "node_streaks", "node, begins", "ends", firstSecond, "ends") ||
          pruneRows(db, "outages", "node, gpu, begins", "ends", firstSecond, "ends") ||
          pruneDimensions(db, today - Math.max(keep.dailyDays, keep.workloadDays)) ||
          pruneRows(db, "intervals", "id", "ends", firstSecond),
      );
      if (!more) doneOn = today;
      return more;
    },
  };
}

/**
 * The day up to which time was covered, in days since the epoch; `null` if none was. A run shorter than an hour does not count:
 * a clock that is wrong for a moment must not make the ledger forget.
 */
function coveredDay(db: DatabaseSync): number | null {
  const ends = numberOrNullIn(
    db.prepare(`SELECT max(ends) AS ends FROM intervals WHERE gap IS NULL AND seconds >= ${secondsPerHour}`).get(),
    "ends",
  );
  return ends === null ? null : Math.floor(ends / secondsPerDay);
}

const foldedTables = allSumTables.filter(({ keptBy }) => keptBy === "folded");

/** Folds one hour of all tables at once, so that the accounts of an hour are balanced at every moment. */
function foldHour(db: DatabaseSync, before: number): boolean {
  const hour = oldestHour(db, 0);
  if (hour === null || hour >= before) return false;
  const day = hour - (hour % hoursPerDay);
  for (const { name, ...table } of foldedTables) {
    const columns = [...Object.keys(table.keys), ...Object.keys(table.sums)].join(", ");
    db.prepare(
      `INSERT INTO ${name} (daily, hour, ${columns}) SELECT 1, ?, ${columns} FROM ${name} WHERE daily = 0 AND hour = ?
       ${addToExisting(name, table)}`,
    ).run(day, hour);
    db.prepare(`DELETE FROM ${name} WHERE daily = 0 AND hour = ?`).run(hour);
  }
  return true;
}

function pruneHour(db: DatabaseSync, before: number): boolean {
  const hour = oldestHour(db, 1);
  if (hour === null || hour >= before) return false;
  for (const { name } of foldedTables) db.prepare(`DELETE FROM ${name} WHERE daily = 1 AND hour = ?`).run(hour);
  return true;
}

function oldestHour(db: DatabaseSync, daily: 0 | 1): number | null {
  const hours = foldedTables
    .map(({ name }) => oldest(db, `SELECT min(hour) AS oldest FROM ${name} WHERE daily = ${daily}`))
    .filter((hour) => hour !== null);
  return hours.length === 0 ? null : Math.min(...hours);
}

function pruneWorkloads(db: DatabaseSync, before: number): boolean {
  const day = oldest(db, "SELECT min(day) AS oldest FROM workload_time");
  if (day === null || day >= before) return false;
  const end = oldest(
    db,
    `SELECT min(workload) AS oldest FROM (SELECT workload FROM workload_time WHERE day = ${day} ORDER BY workload LIMIT 1 OFFSET ${sliceRows})`,
  );
  const below = end === null ? "" : `AND workload <= ${end}`;
  db.prepare(`DELETE FROM workload_time WHERE day = ? ${below}`).run(day);
  return true;
}

/** Prunes a table that is kept by day, one day at a time. */
function pruneDay(db: DatabaseSync, table: "served_time" | "waits" | "pod_shapes", before: number): boolean {
  const day = oldest(db, `SELECT min(day) AS oldest FROM ${table}`);
  if (day === null || day >= before) return false;
  db.prepare(`DELETE FROM ${table} WHERE day = ?`).run(day);
  return true;
}

/**
 * Prunes the rows whose `time` is before `before`; rows where it is NULL stay. `key` identifies a row. Rows are pruned in the
 * order of `order`; an index in this order makes it unnecessary to read all rows. Returns whether anything was pruned.
 */
function pruneRows(
  db: DatabaseSync,
  table: string,
  key: string,
  time: string,
  before: number,
  order: string = key,
): boolean {
  const { changes } = db
    .prepare(
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${time} < ? ORDER BY ${order} LIMIT ${sliceRows})`,
    )
    .run(before);
  return Number(changes) > 0;
}

function pruneDimensions(db: DatabaseSync, before: number): boolean {
  return Object.keys(dimensions).some((table) => pruneRows(db, table, "id", "last_day", before));
}

function oldest(db: DatabaseSync, sql: string): number | null {
  return numberOrNullIn(db.prepare(sql).get(), "oldest");
}
