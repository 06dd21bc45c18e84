import { queueAmounts } from "../posting.ts";
import { type PackedQueues, type PackedWaits, queueParts } from "./packedQueues.ts";
import { createTupleList, tuples } from "./tupleList.ts";

/**
 * Merges what two entries report about queues: times of the same hour and queue become one, and so do waits of the same day,
 * group and bucket.
 */
export function mergeQueues(earlier: PackedQueues, later: PackedQueues): PackedQueues {
  const rows = addUp([earlier, later]);
  return {
    ...rows,
    waits: addUpWaits([...earlier.waits, ...later.waits]),
    evictions: [...new Map([...earlier.evictions, ...later.evictions].map((one) => [one.key, one] as const)).values()],
  };
}

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
