import type { CapacityType } from "../model/capacityType.ts";
import { type IdleNodeState, isIdleNodeState } from "./idleNodeStates.ts";
import type { LedgerInterval } from "./ledger/ledger.ts";
import type { AccruedTime, NodeTime } from "./posting.ts";
import { hourParts } from "./stepTime.ts";

/** The windows over which idle nodes are added up, by label value; seconds. */
export const idleWindows = { "24h": 86_400, "7d": 604_800 } as const;

export type IdleWindowName = keyof typeof idleWindows;

/** Nodes whose idle time is added up together. Without a price, there is no currency and no cost. */
export interface IdleGroup {
  readonly pool: string;
  readonly nodePool: string;
  readonly capacityType: CapacityType | null;
  readonly state: IdleNodeState;
  readonly currency: string | null;
}

/** The idle time of the nodes of a group within a window. */
export interface IdleTime extends IdleGroup {
  readonly nodeSeconds: number;
  /** Cost of that time; `null` exactly where the currency is. */
  readonly cost: number | null;
}

/** Idle node time of the last hours or days. */
export interface IdleWindow {
  readonly window: IdleWindowName;
  /** The seconds of the window that are counted; the rest is unknown. */
  readonly coveredSeconds: number;
  readonly times: readonly IdleTime[];
}

/** The idle time of the last days that a ledger contains. */
export interface PastIdleTime {
  readonly intervals: readonly LedgerInterval[];
  /** The time of idle nodes only; the hours of one day may be equal parts of that day. */
  readonly nodeTimes: readonly NodeTime[];
}

/** Adds up the time of idle nodes hour by hour, for as long as the longest window. */
export interface IdleHours {
  /** Adds one step. A gap adds nothing. */
  add(step: Pick<AccruedTime, "interval" | "nodeTimes">): void;
  /** Each window up to `at` (seconds since the epoch); its first hour counts partly. */
  windows(at: number): readonly IdleWindow[];
}

const hourSeconds = 3600;
/** The number of hours that are kept: those of the longest window, and the current one. */
const slots = idleWindows["7d"] / hourSeconds + 1;
/** With more groups than this, nodes of further pools are counted together. */
const mostGroups = 2000;
const other = "other";

interface Row {
  readonly group: IdleGroup;
  readonly nodeSeconds: Float64Array;
  readonly cost: Float64Array | null;
}

/** Creates the sums, filled with the contents of a ledger. */
export function createIdleHours(past: PastIdleTime | null): IdleHours {
  const rows = new Map<string, Row>();
  const covered = new Float64Array(slots);
  /** The newest hour, in hours since the epoch; `null` before the first one. */
  let newest: number | null = null;

  function clear(hour: number): void {
    const slot = hour % slots;
    covered[slot] = 0;
    for (const { nodeSeconds, cost } of rows.values()) {
      nodeSeconds[slot] = 0;
      if (cost !== null) cost[slot] = 0;
    }
  }

  /** Makes this the newest hour. Later hours were written before the clock was set back, and are forgotten. */
  function turnTo(hour: number): void {
    if (newest === null || hour === newest) {
      newest = hour;
      return;
    }
    const [from, to] = hour > newest ? [newest + 1, hour] : [hour + 1, newest];
    for (let one = Math.max(from, to - slots + 1); one <= to; one += 1) clear(one);
    newest = hour;
    for (const [key, row] of rows) if (row.nodeSeconds.every((seconds) => seconds === 0)) rows.delete(key);
  }

  function rowOf(group: IdleGroup): Row {
    const { pool, nodePool, capacityType, state, currency } = group;
    const key = JSON.stringify([pool, nodePool, capacityType, state, currency]);
    const known = rows.get(key);
    if (known !== undefined) return known;
    if (rows.size >= mostGroups && nodePool !== other) return rowOf({ ...group, pool: other, nodePool: other });
    const cost = currency === null ? null : new Float64Array(slots);
    const row = {
      group: { pool, nodePool, capacityType, state, currency },
      nodeSeconds: new Float64Array(slots),
      cost,
    };
    rows.set(key, row);
    return row;
  }

  const isKept = (hour: number): boolean => newest !== null && hour <= newest && hour > newest - slots;

  function addCovered({ from, to, seconds, gap }: LedgerInterval): void {
    if (gap !== null) return;
    for (const part of hourParts({ from, to, seconds, intervalSeconds: seconds })) {
      const hour = part.hour / hourSeconds;
      if (isKept(hour)) covered[hour % slots] = (covered[hour % slots] ?? 0) + part.seconds;
    }
  }

  function addNodeTimes(nodeTimes: readonly NodeTime[]): void {
    for (const time of nodeTimes) {
      const { state, nodeSeconds, cost } = time;
      const hour = time.hour / hourSeconds;
      if (!isIdleNodeState(state) || !isKept(hour)) continue;
      const row = rowOf({ ...time, state });
      const slot = hour % slots;
      row.nodeSeconds[slot] = (row.nodeSeconds[slot] ?? 0) + nodeSeconds;
      if (row.cost !== null && cost !== null) row.cost[slot] = (row.cost[slot] ?? 0) + cost;
    }
  }

  function over(window: IdleWindowName, at: number): IdleWindow {
    const from = at - idleWindows[window];
    const weights = new Float64Array(slots);
    for (let hour = Math.floor(from / hourSeconds); hour * hourSeconds < at; hour += 1) {
      if (isKept(hour)) weights[hour % slots] = Math.min(1, hour + 1 - from / hourSeconds);
    }
    const sum = (amounts: Float64Array): number =>
      amounts.reduce((total, amount, slot) => total + amount * (weights[slot] ?? 0), 0);
    const times = [...rows.values()].map(({ group, nodeSeconds, cost }) => ({
      ...group,
      nodeSeconds: sum(nodeSeconds),
      cost: cost === null ? null : sum(cost),
    }));
    // Where the clock was set back, the same hour came twice.
    return { window, coveredSeconds: Math.min(idleWindows[window], sum(covered)), times };
  }

  if (past !== null && past.intervals.length > 0) {
    turnTo(Math.floor(Math.max(...past.intervals.map(({ to }) => to)) / hourSeconds));
    for (const interval of past.intervals) addCovered(interval);
    addNodeTimes(past.nodeTimes);
  }
  return {
    add({ interval, nodeTimes }) {
      if (interval.gap !== null || !(interval.to > 0)) return;
      // A step that ends at a full hour has no part in the next one.
      turnTo(Math.max(Math.floor(interval.from / hourSeconds), Math.ceil(interval.to / hourSeconds) - 1));
      addCovered(interval);
      addNodeTimes(nodeTimes);
    },
    windows: (at) => [over("24h", at), over("7d", at)],
  };
}

/** The last moment that a ledger reports as seen, seconds since the epoch. */
export function lastCovered(past: PastIdleTime | null): number | null {
  const ends = past?.intervals.map(({ to }) => to) ?? [];
  return ends.length === 0 ? null : ends.reduce((latest, to) => Math.max(latest, to));
}
