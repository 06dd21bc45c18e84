import type { TuplePart } from "../../kernel/tupleInterner.ts";
import type { StoredAdvice, StoredWithheld } from "../../model/storedAdvice.ts";
import type { HealthTime } from "../healthTime.ts";
import type { Account, NodeTime, PoolHour, PricesInUse, WorkloadKey } from "../posting.ts";
import type { ServedTime } from "../servedTime.ts";
import { type PackedShape, packShapes } from "./endedShapes.ts";
import type { LedgerEntry, LedgerInterval } from "./ledger.ts";
import type { PackedCapacity } from "./packedCapacity.ts";
import { type PackedQueues, packQueues } from "./packedQueues.ts";
import { secondsPerHour } from "./schema.ts";

export const accountParts = 9;
export const workloadParts = 3;

/** The value that means "no workload" in `PackedRows.workload`. */
export const noWorkload = 0xffff_ffff;

/** Postings as columns. Unknown energy is NaN, and so is a cost without a price. */
export interface PackedRows {
  /** Hours since the epoch. */
  readonly hour: Uint32Array;
  /** Index of the tuple in `PackedEntry.accounts`. */
  readonly account: Uint32Array;
  readonly workload: Uint32Array;
  readonly gpuSeconds: Float64Array;
  readonly estimated: Float64Array;
  readonly unmetered: Float64Array;
  readonly energy: Float64Array;
  readonly cost: Float64Array;
}

/**
 * An entry as it is sent to the writer's thread: copying ten thousand nested objects would block the cycle, while copying a few
 * columns does not. Waiting entries are merged into one of these, so that it can have several intervals.
 */
export interface PackedEntry {
  readonly intervals: readonly LedgerInterval[];
  /** Accounts, `accountParts` values each, in the order of the table's columns. */
  readonly accounts: readonly TuplePart[];
  /** Workloads, `workloadParts` values each. */
  readonly workloads: readonly TuplePart[];
  readonly rows: PackedRows;
  readonly poolHours: readonly PoolHour[];
  readonly nodeTimes: readonly NodeTime[];
  readonly healthTimes: readonly HealthTime[];
  readonly servedTimes: readonly ServedTime[];
  readonly queues: PackedQueues;
  readonly capacity: PackedCapacity;
  /** The prices in use, in the order in which they came into use. */
  readonly prices: readonly PricesInUse[];
  readonly endedPods: readonly PackedShape[];
  readonly advice: readonly StoredAdvice[];
  readonly withheld: readonly StoredWithheld[];
  /** Kind, key and value of each change, one after the other. */
  readonly remembered: readonly TuplePart[];
}

/** The columns for a number of postings, all 0. */
export function emptyRows(length: number): PackedRows {
  return {
    hour: new Uint32Array(length),
    account: new Uint32Array(length),
    workload: new Uint32Array(length),
    gpuSeconds: new Float64Array(length),
    estimated: new Float64Array(length),
    unmetered: new Float64Array(length),
    energy: new Float64Array(length),
    cost: new Float64Array(length),
  };
}

/**
 * Packs an entry, on the thread that runs the cycle. Accounts and workloads that are the same object become one; those
 * that are only equal are added up by the writer.
 */
export function packEntry({ step, remembered, advice = [], withheld = [] }: LedgerEntry): PackedEntry {
  const { interval, postings, poolHours, nodeTimes, healthTimes, servedTimes } = step;
  const accounts: TuplePart[] = [];
  const workloads: TuplePart[] = [];
  const accountOf = numbering((account: Account) => addAccount(accounts, account));
  const workloadOf = numbering(({ kind, namespace, name }: WorkloadKey) => workloads.push(kind, namespace, name));
  const rows = emptyRows(postings.length);
  for (const [i, posting] of postings.entries()) {
    rows.hour[i] = posting.hour / secondsPerHour;
    rows.account[i] = accountOf(posting.account);
    rows.workload[i] = posting.workload === null ? noWorkload : workloadOf(posting.workload);
    rows.gpuSeconds[i] = posting.gpuSeconds;
    rows.estimated[i] = posting.estimatedGpuSeconds;
    rows.unmetered[i] = posting.energyJoules === null ? posting.gpuSeconds : 0;
    rows.energy[i] = posting.energyJoules ?? Number.NaN;
    rows.cost[i] = posting.cost ?? Number.NaN;
  }
  const changes: TuplePart[] = [];
  for (const { kind, key, value } of remembered) {
    changes.push(kind, key, value);
  }
  const queues = packQueues(step);
  const prices = step.prices === null ? [] : [step.prices];
  const capacity = { ...step.capacity, nodeStreaks: step.nodeStreaks, outages: step.outages };
  const endedPods = packShapes(step.endedPods, interval.to);
  return {
    intervals: [interval],
    accounts,
    workloads,
    rows,
    poolHours,
    nodeTimes,
    healthTimes,
    servedTimes,
    queues,
    capacity,
    prices,
    endedPods,
    advice,
    withheld,
    remembered: changes,
  };
}

function addAccount(parts: TuplePart[], account: Account): void {
  const { pool, nodePool, capacityType, team, queue, namespace, priorityClass, state, currency } = account;
  parts.push(pool, nodePool, capacityType, team, queue, namespace, priorityClass, state, currency);
}

/** Numbers objects in the order in which they are first seen; the first time, `add` is called for the object. */
function numbering<Key extends object>(add: (key: Key) => void): (key: Key) => number {
  const known = new Map<Key, number>();
  return (key) => {
    const seen = known.get(key);
    if (seen !== undefined) return seen;
    const id = known.size;
    known.set(key, id);
    add(key);
    return id;
  };
}
