import { emptyRows, noWorkload, type PackedRows } from "./packedEntry.ts";

/** Postings added up by period, account and workload. */
export interface RowSums {
  /** Adds row `i` of `from` to the sum of these keys. */
  add(period: number, account: number, workload: number, from: PackedRows, i: number): void;
  /** One row for each distinct key, in the order of their first posting; `hour` is the period. */
  rows(): PackedRows;
}

/**
 * A number that is larger than the number of accounts of any entry, because an entry's postings are bounded (`maxWaitingRows`).
 */
const maxAccounts = 2 ** 22;

/** Creates sums for at most `capacity` keys. */
export function createRowSums(capacity: number): RowSums {
  const sums = emptyRows(capacity);
  const places = new Map<number, Map<number, number>>();
  let size = 0;

  function placeOf(period: number, account: number, workload: number): number {
    const ofPeriod = places.get(period) ?? new Map<number, number>();
    places.set(period, ofPeriod);
    const key = (workload === noWorkload ? 0 : workload + 1) * maxAccounts + account;
    const known = ofPeriod.get(key);
    if (known !== undefined) return known;
    const at = size;
    size += 1;
    ofPeriod.set(key, at);
    sums.hour[at] = period;
    sums.account[at] = account;
    sums.workload[at] = workload;
    sums.energy[at] = Number.NaN;
    sums.cost[at] = Number.NaN;
    return at;
  }

  return {
    add(period, account, workload, from, i) {
      const at = placeOf(period, account, workload);
      sums.gpuSeconds[at] = (sums.gpuSeconds[at] ?? 0) + (from.gpuSeconds[i] ?? 0);
      sums.estimated[at] = (sums.estimated[at] ?? 0) + (from.estimated[i] ?? 0);
      sums.unmetered[at] = (sums.unmetered[at] ?? 0) + (from.unmetered[i] ?? 0);
      sums.energy[at] = sumOfKnown(sums.energy[at] ?? Number.NaN, from.energy[i] ?? Number.NaN);
      sums.cost[at] = sumOfKnown(sums.cost[at] ?? Number.NaN, from.cost[i] ?? Number.NaN);
    },
    rows: () => ({
      hour: sums.hour.subarray(0, size),
      account: sums.account.subarray(0, size),
      workload: sums.workload.subarray(0, size),
      gpuSeconds: sums.gpuSeconds.subarray(0, size),
      estimated: sums.estimated.subarray(0, size),
      unmetered: sums.unmetered.subarray(0, size),
      energy: sums.energy.subarray(0, size),
      cost: sums.cost.subarray(0, size),
    }),
  };
}

/** The sum of two values; unknown values are NaN, and add nothing. */
function sumOfKnown(one: number, other: number): number {
  if (Number.isNaN(one)) return other;
  return Number.isNaN(other) ? one : one + other;
}
