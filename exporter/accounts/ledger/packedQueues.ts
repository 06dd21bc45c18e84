import type { TuplePart } from "../../kernel/tupleInterner.ts";
import { sizeClassOf } from "../../model/sizeClass.ts";
import type { SeenFailure } from "../failureAccount.ts";
import { type AccruedStep, queueAmounts, type SeenEviction } from "../posting.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";
import { createTupleList, tuples } from "./tupleList.ts";
import { waitBucket } from "./waitBucket.ts";

export const queueParts = 5;

/** The ended waits of one day, group and bucket. */
interface PackedWaits {
  /** Days since the epoch. */
  readonly day: number;
  /** Queue, team, priority class, size class and phase. */
  readonly group: readonly TuplePart[];
  readonly bucket: number;
  readonly waits: number;
  readonly seconds: number;
}

/** What an entry adds to the accounts of queues. */
export interface PackedQueues {
  /** Queues, `queueParts` values each: scheduler, kind, queue, domain, team. */
  readonly keys: readonly TuplePart[];
  /** Hours since the epoch. */
  readonly hour: Uint32Array;
  /** Index of the tuple in `keys`. */
  readonly queue: Uint32Array;
  /** The `queueAmounts` of each row, one row after the other. */
  readonly amounts: Float64Array;
  readonly waits: readonly PackedWaits[];
  readonly evictions: readonly SeenEviction["eviction"][];
  readonly failures: readonly SeenFailure[];
}

/** The queues of a step in which nothing happened in queues. */
export const noPackedQueues: PackedQueues = {
  keys: [],
  hour: new Uint32Array(0),
  queue: new Uint32Array(0),
  amounts: new Float64Array(0),
  waits: [],
  evictions: [],
  failures: [],
};

/** The most rows that an entry adds. */
export function queueRowCount({ hour, waits, evictions, failures }: PackedQueues): number {
  return hour.length + waits.length + evictions.length + failures.length;
}

/** Packs what a step reports about queues; the writer adds up rows that are alike. */
export function packQueues({ queueTimes, waits, evictions, failures }: AccruedStep): PackedQueues {
  const keys: TuplePart[] = [];
  const hour = new Uint32Array(queueTimes.length);
  const queue = new Uint32Array(queueTimes.length);
  const amounts = new Float64Array(queueTimes.length * queueAmounts.length);
  for (const [i, time] of queueTimes.entries()) {
    keys.push(time.scheduler, time.kind, time.queue, time.domain, time.team);
    hour[i] = time.hour / secondsPerHour;
    queue[i] = i;
    for (const [n, name] of queueAmounts.entries()) amounts[i * queueAmounts.length + n] = time[name];
  }
  return {
    keys,
    hour,
    queue,
    amounts,
    waits: waits.map((wait) => ({
      day: Math.floor(Math.max(0, wait.endedAt) / secondsPerDay),
      group: [wait.queue, wait.team, wait.priorityClass, sizeClassOf(wait.gpus), wait.phase],
      bucket: waitBucket(wait.seconds),
      waits: 1,
      seconds: wait.seconds,
    })),
    evictions: evictions.map(({ eviction }) => eviction),
    failures,
  };
}

/**
 * Merges what two entries report about queues: times of the same hour and queue become one, and so do waits of the same day,
 * group and bucket.
 */
export function mergeQueues(earlier: PackedQueues, later: PackedQueues): PackedQueues {
  const rows = addUp([earlier, later]);
  return {
    ...rows,
    waits: addUpWaits([...earlier.waits, ...later.waits]),
    evictions: eachOnce([...earlier.evictions, ...later.evictions]),
    failures: eachOnce([...earlier.failures, ...later.failures]),
  };
}

const eachOnce = <Event extends { readonly key: string }>(events: readonly Event[]): readonly Event[] => [
  ...new Map(events.map((one) => [one.key, one] as const)).values(),
];

/** Adds up the rows of queue time, so that each hour and queue has one. */
export function addUp(parts: readonly PackedQueues[]): Pick<PackedQueues, "keys" | "hour" | "queue" | "amounts"> {
  const keys = createTupleList();
  const capacity = parts.reduce((sum, { hour }) => sum + hour.length, 0);
  const hour = new Uint32Array(capacity);
  const queue = new Uint32Array(capacity);
  const amounts = new Float64Array(capacity * queueAmounts.length);
  const places = new Map<number, Map<number, number>>();
  let size = 0;
  for (const part of parts) {
    const ids = tuples(part.keys, queueParts).map((tuple) => keys.indexOf(tuple));
    for (let i = 0; i < part.hour.length; i += 1) {
      const at = placeOf(part.hour[i] ?? 0, ids[part.queue[i] ?? 0] ?? 0);
      for (let n = 0; n < queueAmounts.length; n += 1) {
        const to = at * queueAmounts.length + n;
        amounts[to] = (amounts[to] ?? 0) + (part.amounts[i * queueAmounts.length + n] ?? 0);
      }
    }
  }
  return {
    keys: keys.parts,
    hour: hour.subarray(0, size),
    queue: queue.subarray(0, size),
    amounts: amounts.subarray(0, size * queueAmounts.length),
  };

  function placeOf(inHour: number, ofQueue: number): number {
    const ofHour = places.get(inHour) ?? new Map<number, number>();
    places.set(inHour, ofHour);
    const known = ofHour.get(ofQueue);
    if (known !== undefined) return known;
    ofHour.set(ofQueue, size);
    hour[size] = inHour;
    queue[size] = ofQueue;
    size += 1;
    return size - 1;
  }
}

function addUpWaits(rows: readonly PackedWaits[]): readonly PackedWaits[] {
  const keys = createTupleList();
  const sums: PackedWaits[] = [];
  for (const row of rows) {
    const at = keys.indexOf([`${row.day}`, `${row.bucket}`, ...row.group]);
    const before = sums[at];
    sums[at] =
      before === undefined ? row : { ...row, waits: before.waits + row.waits, seconds: before.seconds + row.seconds };
  }
  return sums;
}
