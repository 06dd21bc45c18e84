import type { DatabaseSync } from "node:sqlite";
import type { LedgerInterval, StoredGapReason } from "./ledger.ts";
import { sameMomentSeconds } from "./mergeEntries.ts";
import { numberIn, type SqliteRow, textOrNullIn } from "./sqliteRow.ts";

/** The record of what was covered. */
export interface IntervalLog {
  /** Adds an interval; one that continues the last interval, for the same reason, extends it. */
  add(interval: LedgerInterval): void;
}

const lastSql = "SELECT id, begins, ends, seconds, gap FROM intervals ORDER BY id DESC LIMIT 1";

/** Creates the log of an open ledger. It remembers nothing, so that a transaction may be rolled back without harm. */
export function createIntervalLog(db: DatabaseSync): IntervalLog {
  const last = db.prepare(lastSql);
  const insert = db.prepare("INSERT INTO intervals (begins, ends, seconds, gap) VALUES (?, ?, ?, ?)");
  const extend = db.prepare("UPDATE intervals SET ends = ?, seconds = seconds + ? WHERE id = ?");

  function put({ from, to, seconds, gap }: LedgerInterval): void {
    const row = last.get();
    const before = row === undefined ? null : toInterval(row);
    const meets = before !== null && before.gap === gap && Math.abs(from - before.to) <= sameMomentSeconds;
    if (meets && row !== undefined) extend.run(to, seconds, numberIn(row, "id"));
    else insert.run(from, to, seconds, gap);
  }

  return {
    add(interval) {
      const row = last.get();
      const hole = row === undefined ? null : holeBetween(toInterval(row), interval);
      if (hole !== null) put(hole);
      put(interval);
    },
  };
}

/** The time that nobody saw between two intervals: the process was not running, or the clock was set back. */
function holeBetween(before: LedgerInterval, next: LedgerInterval): LedgerInterval | null {
  const missing = next.from - before.to;
  if (Math.abs(missing) <= sameMomentSeconds) return null;
  if (missing > 0) return { from: before.to, to: next.from, seconds: missing, gap: "too-long" };
  return { from: before.to, to: next.from, seconds: 0, gap: "clock-jump" };
}

/** The last run of intervals; `null` in a new ledger. */
export function lastInterval(db: DatabaseSync): LedgerInterval | null {
  const row = db.prepare(lastSql).get();
  return row === undefined ? null : toInterval(row);
}

/** A row of `intervals`. */
export function toInterval(row: SqliteRow): LedgerInterval {
  return {
    from: numberIn(row, "begins"),
    to: numberIn(row, "ends"),
    seconds: numberIn(row, "seconds"),
    gap: gapReason(textOrNullIn(row, "gap")),
  };
}

function gapReason(text: string | null): StoredGapReason | null {
  if (text === null) return null;
  if (text === "clock-jump" || text === "stale-objects" || text === "not-written") return text;
  return "too-long";
}
