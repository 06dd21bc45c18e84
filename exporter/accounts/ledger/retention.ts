import type { DatabaseSync } from "node:sqlite";
import { addExcluded, addExcludedNodeTime, sumColumns } from "./entryWriter.ts";
import type { LedgerRetention } from "./ledger.ts";
import { addExcludedQueueTime, queueSums } from "./queueWriter.ts";
import { hoursPerDay, secondsPerDay, secondsPerHour } from "./schema.ts";
import { numberOrNullIn } from "./sqliteRow.ts";
import { inTransaction } from "./transaction.ts";

/** Rows of one slice, about: so many take well below the time between two cycles. */
const sliceRows = 5000;

/** Folds old hours and prunes what is past its time, a little at a time. */
export interface Retention {
  /**
   * Folds one hour of sums, or prunes a few thousand rows, in a transaction of its own. Returns whether there is more to
   * do. Totals by day stay what they were.
   */
  slice(): boolean;
}

/** Creates the retention of an open ledger. Once everything of a day is done, it looks again on the next. */
export function createRetention(db: DatabaseSync, keep: LedgerRetention): Retention {
  let doneOn: number | null = null;
  return {
    slice() {
      const today = coveredDay(db);
      if (today === null || today === doneOn) return false;
      const more = inTransaction(
        db,
        () =>
          foldHour(db, (today - keep.hourlyDays) * hoursPerDay) ||
          pruneHour(db, (today - keep.dailyDays) * hoursPerDay) ||
          pruneWorkloads(db, today - keep.workloadDays) ||
          pruneWaits(db, today - keep.dailyDays) ||
          pruneEvictions(db, (today - keep.dailyDays) * secondsPerDay) ||
          pruneShapes(db, today - keep.dailyDays) ||
          pruneAdvice(db, (today - keep.dailyDays) * secondsPerDay) ||
          prunePrices(db, (today - keep.dailyDays) * secondsPerDay) ||
          pruneDimensions(db, today - Math.max(keep.dailyDays, keep.workloadDays)) ||
          pruneIntervals(db, (today - keep.dailyDays) * secondsPerDay),
      );
      if (!more) doneOn = today;
      return more;
    },
  };
}

/**
 * The day up to which time was covered. A run shorter than an hour does not count: a clock that is wrong for a moment
 * must not make the ledger forget.
 */
function coveredDay(db: DatabaseSync): number | null {
  const row = db
    .prepare(`SELECT max(ends) AS ends FROM intervals WHERE gap IS NULL AND seconds >= ${secondsPerHour}`)
    .get();
  const ends = row === undefined ? null : numberOrNullIn(row, "ends");
  return ends === null ? null : Math.floor(ends / secondsPerDay);
}

interface TimeTable {
  readonly name: "gpu_time" | "pool_time" | "node_time" | "queue_time";
  readonly columns: string;
  readonly add: string;
}

const timeTables: readonly TimeTable[] = [
  {
    name: "gpu_time",
    columns: `account, ${sumColumns}`,
    add: addExcluded("gpu_time"),
  },
  {
    name: "pool_time",
    columns: "pool, physical_gpu_seconds",
    add: "ON CONFLICT DO UPDATE SET physical_gpu_seconds = pool_time.physical_gpu_seconds + excluded.physical_gpu_seconds",
  },
  {
    name: "node_time",
    columns: "node_group, node_seconds, cost",
    add: addExcludedNodeTime,
  },
  {
    name: "queue_time",
    columns: `queue, ${queueSums.join(", ")}`,
    add: addExcludedQueueTime,
  },
];

/** Folds one hour of all tables at once, so that the books of an hour close at every moment. */
function foldHour(db: DatabaseSync, before: number): boolean {
  const hour = oldestHour(db, 0);
  if (hour === null || hour >= before) return false;
  const day = hour - (hour % hoursPerDay);
  for (const { name, columns, add } of timeTables) {
    db.prepare(
      `INSERT INTO ${name} (daily, hour, ${columns}) SELECT 1, ?, ${columns} FROM ${name} WHERE daily = 0 AND hour = ? ${add}`,
    ).run(day, hour);
    db.prepare(`DELETE FROM ${name} WHERE daily = 0 AND hour = ?`).run(hour);
  }
  return true;
}

function pruneHour(db: DatabaseSync, before: number): boolean {
  const hour = oldestHour(db, 1);
  if (hour === null || hour >= before) return false;
  for (const { name } of timeTables) db.prepare(`DELETE FROM ${name} WHERE daily = 1 AND hour = ?`).run(hour);
  return true;
}

function oldestHour(db: DatabaseSync, daily: 0 | 1): number | null {
  const hours = timeTables
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

function pruneWaits(db: DatabaseSync, before: number): boolean {
  const day = oldest(db, "SELECT min(day) AS oldest FROM waits");
  if (day === null || day >= before) return false;
  db.prepare("DELETE FROM waits WHERE day = ?").run(day);
  return true;
}

function pruneShapes(db: DatabaseSync, before: number): boolean {
  const day = oldest(db, "SELECT min(day) AS oldest FROM pod_shapes");
  if (day === null || day >= before) return false;
  db.prepare("DELETE FROM pod_shapes WHERE day = ?").run(day);
  return true;
}

function pruneEvictions(db: DatabaseSync, before: number): boolean {
  const { changes } = db
    .prepare(
      `DELETE FROM evictions WHERE key IN (SELECT key FROM evictions WHERE at < ? ORDER BY at LIMIT ${sliceRows})`,
    )
    .run(before);
  return Number(changes) > 0;
}

/** Recommendations that closed before; open ones stay. */
function pruneAdvice(db: DatabaseSync, before: number): boolean {
  const { changes } = db
    .prepare(
      `DELETE FROM recommendations WHERE rowid IN (SELECT rowid FROM recommendations WHERE closed < ? ORDER BY rowid LIMIT ${sliceRows})`,
    )
    .run(before);
  return Number(changes) > 0;
}

/** Prices that were last used before. */
function prunePrices(db: DatabaseSync, before: number): boolean {
  const { changes } = db
    .prepare(
      `DELETE FROM price_log WHERE id IN (SELECT id FROM price_log WHERE ends < ? ORDER BY id LIMIT ${sliceRows})`,
    )
    .run(before);
  return Number(changes) > 0;
}

/** Rows that no sum can name any more: each carries the last day on which it was used. */
function pruneDimensions(db: DatabaseSync, before: number): boolean {
  for (const table of ["workloads", "accounts", "node_groups", "queues", "wait_groups", "shapes"]) {
    const { changes } = db
      .prepare(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE last_day < ? ORDER BY id LIMIT ${sliceRows})`,
      )
      .run(before);
    if (Number(changes) > 0) return true;
  }
  return false;
}

function pruneIntervals(db: DatabaseSync, before: number): boolean {
  const { changes } = db
    .prepare(
      `DELETE FROM intervals WHERE id IN (SELECT id FROM intervals WHERE ends < ? ORDER BY id LIMIT ${sliceRows})`,
    )
    .run(before);
  return Number(changes) > 0;
}

function oldest(db: DatabaseSync, sql: string): number | null {
  const row = db.prepare(sql).get();
  return row === undefined ? null : numberOrNullIn(row, "oldest");
}
