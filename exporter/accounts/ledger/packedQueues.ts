import type { TuplePart } from "../../kernel/tupleInterner.ts";
import { type AccruedStep, queueAmounts, type SeenEviction } from "../posting.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";
import { sizeClassOf, waitBucket } from "./waitBucket.ts";

export const queueParts = 5;

/** Ended waits of one day, group and bucket. */
export interface PackedWaits {
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
  /** `queueAmounts` of each row, one row after the other. */
  readonly amounts: Float64Array;
  readonly waits: readonly PackedWaits[];
  readonly evictions: readonly SeenEviction["eviction"][];
}

/** Of a step in which nothing happened in queues. */
export const noPackedQueues: PackedQueues = {
  keys: [],
  hour: new Uint32Array(0),
  queue: new Uint32Array(0),
  amounts: new Float64Array(0),
  waits: [],
  evictions: [],
};

/** Rows that an entry adds at most. */
export function queueRowCount({ hour, waits, evictions }: PackedQueues): number {
  return hour.length + waits.length + evictions.length;
}

/** Packs what a step reports about queues; the writer adds up rows that are alike. */
export function packQueues({ queueTimes, waits, evictions }: AccruedStep): PackedQueues {
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
  };
}
