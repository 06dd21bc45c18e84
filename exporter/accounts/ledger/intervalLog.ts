import type { DatabaseSync } from "node:sqlite";
import type { LedgerCoverage, UncoveredReason, UncoveredTime } from "./accountsQuery.ts";
import type { LedgerInterval, StoredGapReason } from "./ledger.ts";
import { sameMomentSeconds } from "./mergeEntries.ts";
import { numberIn, type SqliteRow, textOrNullIn } from "./sqliteRow.ts";

/** The record of the time that was covered. */
export interface IntervalLog {
  /** Adds an interval; one that continues the last interval, for the same reason, extends it. */
  add(interval: LedgerInterval): void;
}

const lastSql = "SELECT id, begins, ends, seconds, gap FROM intervals ORDER BY id DESC LIMIT 1";

/** Creates the log of an open ledger. It keeps nothing in memory, so that a transaction may be rolled back without harm. */
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

/**
 * The time between two intervals, in which the process was not running or the clock was set back; `null` if the intervals meet.
 */
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

/** The interval in a row of `intervals`. */
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

/** The most gaps that an answer lists. */
const maxGaps = 1000;

/** The seconds of [from, to) that are counted, and the parts that are not. */
export function coverageOf(db: DatabaseSync, from: number, to: number): LedgerCoverage {
  const intervals = db.prepare("SELECT begins, ends, seconds, gap FROM intervals ORDER BY id").all().map(toInterval);
  return coverageOfIntervals(intervals, from, to);
}

/**
 * The coverage of [from, to) by intervals. These are in the order in which they were written, and may overlap after a clock was
 * set back.
 */
export function coverageOfIntervals(intervals: readonly LedgerInterval[], from: number, to: number): LedgerCoverage {
  const first = intervals.reduce((least, interval) => Math.min(least, interval.from), Number.POSITIVE_INFINITY);
  const last = intervals.reduce((most, interval) => Math.max(most, interval.to), Number.NEGATIVE_INFINITY);
  const inside = intervals.filter((interval) => interval.to > from && interval.from < to);
  const covered = inside.filter((interval) => interval.gap === null).sort((a, b) => a.from - b.from);
  const gaps = inside.filter((interval) => interval.gap !== null).sort((a, b) => a.from - b.from);
  const holes: UncoveredTime[] = [];
  let coveredSeconds = 0;
  let at = from;
  for (const interval of covered) {
    const begin = Math.max(at, interval.from);
    const end = Math.min(to, interval.to);
    if (begin - at > sameMomentSeconds) holes.push(...explainHole(at, begin, gaps, first, last));
    if (end <= at) continue;
    coveredSeconds += end - Math.max(at, begin);
    at = end;
  }
  if (to - at > sameMomentSeconds) holes.push(...explainHole(at, to, gaps, first, last));
  const windowSeconds = to - from;
  return {
    windowSeconds,
    coveredSeconds,
    ratio: windowSeconds > 0 ? Math.min(1, coveredSeconds / windowSeconds) : 0,
    gaps: holes.slice(0, maxGaps),
    gapsLeftOut: Math.max(0, holes.length - maxGaps),
  };
}

/** Divides [from, to) by reason: a recorded gap, or time that the ledger has not seen. */
function explainHole(
  from: number,
  to: number,
  gaps: readonly LedgerInterval[],
  first: number,
  last: number,
): readonly UncoveredTime[] {
  const parts: UncoveredTime[] = [];
  let at = from;
  const upTo = (end: number, reason: UncoveredReason): void => {
    const stop = Math.min(end, to);
    if (stop - at <= sameMomentSeconds) return;
    const before = parts.at(-1);
    if (before?.reason === reason) parts[parts.length - 1] = { ...before, to: stop };
    else parts.push({ from: at, to: stop, reason });
    at = stop;
  };
  upTo(first, "before-ledger");
  for (const gap of gaps) {
    if (gap.to <= at || gap.from >= to) continue;
    upTo(Math.min(gap.from, last), "too-long");
    upTo(gap.to, gap.gap ?? "too-long");
  }
  upTo(Math.min(last, to), "too-long");
  upTo(to, "after-last-entry");
  return parts;
}
