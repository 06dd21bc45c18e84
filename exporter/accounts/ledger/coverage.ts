import type { DatabaseSync } from "node:sqlite";
import type { LedgerCoverage, UncoveredReason, UncoveredTime } from "./accountsQuery.ts";
import { toInterval } from "./intervalLog.ts";
import type { LedgerInterval } from "./ledger.ts";
import { sameMomentSeconds } from "./mergeEntries.ts";

/** The most gaps that an answer lists. */
export const maxGaps = 1000;

/** How much of [from, to) is counted, and which parts are not. */
export function coverageOf(db: DatabaseSync, from: number, to: number): LedgerCoverage {
  const intervals = db.prepare("SELECT begins, ends, seconds, gap FROM intervals ORDER BY id").all().map(toInterval);
  return coverageOfIntervals(intervals, from, to);
}

/** The same for intervals in the order in which they were written, which may overlap after a clock was set back. */
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

/** Divides [from, to) by reason: a recorded gap, or time outside of what the ledger has seen. */
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
