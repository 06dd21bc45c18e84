import type { DatabaseSync } from "node:sqlite";
import { capacityTypes } from "../../model/capacityType.ts";
import { idleWindows, type PastIdleTime } from "../idleHours.ts";
import { idleNodeStates, isIdleNodeState } from "../idleNodeStates.ts";
import type { NodeTime } from "../posting.ts";
import { lastInterval, toInterval } from "./intervalLog.ts";
import { hoursPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, numberOrNullIn, type SqliteRow, textIn, textOrNullIn } from "./sqliteRow.ts";

/**
 * The most rows that are read. These sums are small compared with GPU time; the limit keeps a file that has more than any
 * cluster could from filling the memory.
 */
const mostRows = 200_000;
const mostIntervals = 20_000;

const intervalsSql = `SELECT begins, ends, seconds, gap FROM intervals WHERE gap IS NULL AND ends > ? AND begins <= ?
  ORDER BY id DESC LIMIT ${mostIntervals}`;

const nodeTimesSql = `SELECT t.daily, t.hour, t.node_seconds, t.cost, g.pool, g.node_pool, g.capacity_type, g.state, g.currency
  FROM node_time t JOIN node_groups g ON g.id = t.node_group
  WHERE t.daily IN (0, 1) AND t.hour >= ? AND t.hour <= ? AND g.state IN (${idleNodeStates.map((state) => `'${state}'`).join(", ")})
  LIMIT ${mostRows}`;

/**
 * The time of idle nodes in the last days before the last entry, and the intervals in which it is counted; `null` in a new
 * ledger.
 */
export function recentIdleTime(db: DatabaseSync): PastIdleTime | null {
  const last = lastInterval(db);
  if (last === null) return null;
  const begin = last.to - idleWindows["7d"] - secondsPerHour;
  const firstHour = Math.floor(begin / secondsPerHour);
  const lastHour = Math.ceil(last.to / secondsPerHour);
  return {
    intervals: db.prepare(intervalsSql).all(begin, last.to).map(toInterval),
    // The first day may be folded, and its row begins before the window then.
    nodeTimes: db
      .prepare(nodeTimesSql)
      .all(firstHour - hoursPerDay, lastHour)
      .flatMap(toNodeTimes),
  };
}

/** A row as one time for each of its hours: a day whose hours are folded is divided equally. */
function toNodeTimes(row: SqliteRow): readonly NodeTime[] {
  const hours = numberIn(row, "daily") === 1 ? hoursPerDay : 1;
  const state = textIn(row, "state");
  if (!isIdleNodeState(state)) return [];
  const type = textOrNullIn(row, "capacity_type");
  const cost = numberOrNullIn(row, "cost");
  const each = {
    pool: textIn(row, "pool"),
    nodePool: textIn(row, "node_pool"),
    capacityType: capacityTypes.find((one) => one === type) ?? null,
    state,
    nodeSeconds: numberIn(row, "node_seconds") / hours,
    currency: textOrNullIn(row, "currency"),
    cost: cost === null ? null : cost / hours,
  };
  const first = numberIn(row, "hour");
  return Array.from({ length: hours }, (_, i) => ({ ...each, hour: (first + i) * secondsPerHour }));
}
