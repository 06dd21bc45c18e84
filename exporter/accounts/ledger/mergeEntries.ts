import type { TuplePart } from "../../kernel/tupleInterner.ts";
import { addKnown } from "../addKnown.ts";
import type { ServedTime } from "../servedTime.ts";
import { mergeAdvice } from "./adviceWriter.ts";
import { mergeShapes } from "./endedShapes.ts";
import type { LedgerInterval } from "./ledger.ts";
import { mergeCapacity, sumBy, withoutTimes } from "./packedCapacity.ts";
import { accountParts, emptyRows, noWorkload, type PackedEntry, workloadParts } from "./packedEntry.ts";
import { mergeQueues, noPackedQueues } from "./packedQueues.ts";
import { createRowSums } from "./rowSums.ts";
import { createTupleList, type TupleList, tuples } from "./tupleList.ts";
import { mergeWithheld } from "./withheld.ts";

/** Two intervals of one kind that meet within this many seconds are one run. */
export const sameMomentSeconds = 0.001;

/**
 * The most price changes that are logged; if there are more, only the last ones are: waiting entries must not grow without end
 * where prices change all the time.
 */
const mostPriceChanges = 20;

/**
 * Merges two entries into one that adds what both add; the earlier one comes first. Postings of the same hour, account and
 * workload become one.
 */
export function mergeEntries(earlier: PackedEntry, later: PackedEntry): PackedEntry {
  const accounts = createTupleList();
  const workloads = createTupleList();
  const sums = createRowSums(earlier.rows.hour.length + later.rows.hour.length);
  for (const { rows, ...entry } of [earlier, later]) {
    const accountIds = indicesIn(accounts, tuples(entry.accounts, accountParts));
    const workloadIds = indicesIn(workloads, tuples(entry.workloads, workloadParts));
    for (let i = 0; i < rows.hour.length; i += 1) {
      const account = accountIds[rows.account[i] ?? 0] ?? 0;
      const workload = workloadIds[rows.workload[i] ?? noWorkload] ?? noWorkload;
      sums.add(rows.hour[i] ?? 0, account, workload, rows, i);
    }
  }
  const queues = mergeQueues(earlier.queues, later.queues);
  return {
    queues,
    capacity: mergeCapacity(earlier.capacity, later.capacity),
    intervals: mergeIntervals([...earlier.intervals, ...later.intervals]),
    accounts: accounts.parts,
    workloads: workloads.parts,
    rows: sums.rows(),
    poolHours: sumBy(
      [...earlier.poolHours, ...later.poolHours],
      (row) => [`${row.hour}`, row.pool],
      (a, b) => ({ ...a, physicalGpuSeconds: a.physicalGpuSeconds + b.physicalGpuSeconds }),
    ),
    healthTimes: sumBy(
      [...earlier.healthTimes, ...later.healthTimes],
      ({ hour, pool, nodePool, team, cause, currency }) => [`${hour}`, pool, nodePool, team, cause, currency],
      (one, other) => ({
        ...one,
        gpuSeconds: one.gpuSeconds + other.gpuSeconds,
        cost: one.cost === null || other.cost === null ? null : one.cost + other.cost,
      }),
    ),
    servedTimes: sumBy(
      [...earlier.servedTimes, ...later.servedTimes],
      ({ day, kind, namespace, name, team, currency }) => [`${day}`, kind, namespace, name, team, currency],
      addServed,
    ),
    nodeTimes: sumBy(
      [...earlier.nodeTimes, ...later.nodeTimes],
      (row) => [`${row.hour}`, row.pool, row.nodePool, row.capacityType, row.state, row.currency],
      (a, b) => ({ ...a, nodeSeconds: a.nodeSeconds + b.nodeSeconds, cost: addKnown(a.cost, b.cost) }),
    ),
    prices: [...earlier.prices, ...later.prices].slice(-mostPriceChanges),
    endedPods: mergeShapes(earlier.endedPods, later.endedPods),
    advice: mergeAdvice(earlier.advice, later.advice),
    withheld: mergeWithheld(earlier.withheld, later.withheld),
    remembered: lastChanges([...earlier.remembered, ...later.remembered]),
  };
}

function indicesIn(list: TupleList, all: readonly (readonly TuplePart[])[]): readonly number[] {
  return all.map((tuple) => list.indexOf(tuple));
}

const addServed = (one: ServedTime, other: ServedTime): ServedTime => ({
  ...one,
  requests: one.requests + other.requests,
  promptTokens: addKnown(one.promptTokens, other.promptTokens),
  generatedTokens: addKnown(one.generatedTokens, other.generatedTokens),
  gpuSeconds: one.gpuSeconds + other.gpuSeconds,
  uncountedGpuSeconds: one.uncountedGpuSeconds + other.uncountedGpuSeconds,
  cost: addKnown(one.cost, other.cost),
});

/** The entry without its postings. Its time becomes a gap; what it remembers, its prices, ended pods and node streaks stay. */
export function withoutPostings(entry: PackedEntry): PackedEntry {
  const intervals = entry.intervals.map((interval) => ({ ...interval, gap: interval.gap ?? ("not-written" as const) }));
  const rows = emptyRows(0);
  const queues = noPackedQueues;
  const capacity = withoutTimes(entry.capacity);
  return {
    ...entry,
    intervals,
    rows,
    accounts: [],
    workloads: [],
    poolHours: [],
    nodeTimes: [],
    healthTimes: [],
    servedTimes: [],
    queues,
    capacity,
  };
}

/** Joins intervals of one kind that meet. */
export function mergeIntervals(intervals: readonly LedgerInterval[]): readonly LedgerInterval[] {
  const runs: LedgerInterval[] = [];
  for (const interval of intervals) {
    const last = runs.at(-1);
    const meets =
      last !== undefined && last.gap === interval.gap && Math.abs(interval.from - last.to) <= sameMomentSeconds;
    if (meets) runs[runs.length - 1] = { ...last, to: interval.to, seconds: last.seconds + interval.seconds };
    else runs.push(interval);
  }
  return runs;
}

/** Only the last of several changes of one thing counts. */
function lastChanges(parts: readonly TuplePart[]): readonly TuplePart[] {
  const keys = createTupleList();
  const last: (readonly TuplePart[])[] = [];
  for (const change of tuples(parts, 3)) last[keys.indexOf(change.slice(0, 2))] = change;
  return last.flat();
}
