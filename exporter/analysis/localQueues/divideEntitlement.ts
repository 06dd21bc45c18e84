import { gpuTolerance, sumOf, waterFill } from "../fairness/waterFill.ts";
import type { LocalWait, LocalWork } from "./localWork.ts";
import { createOffers, type Offers } from "./offers.ts";

/**
 * Divides what a ClusterQueue is entitled to in each of its records among its LocalQueues: by LocalQueue and record, physical GPUs.
 * It adds up to what is given as far as their demand reaches.
 *
 * With weights: the weighted max-min share of all that the ClusterQueue is entitled to, of which what a LocalQueue holds is the first
 * part; a LocalQueue without weight gets what the others leave. Without weights (`null`) nothing ranks LocalQueues: what is held stays,
 * where it is too much each keeps the same part of it, and waiting work follows in the order in which its queue serves it.
 */
export function divideEntitlement(
  { names, held, waits }: Pick<LocalWork, "names" | "held" | "waits">,
  entitled: readonly number[],
  weights: readonly number[] | null,
): readonly Float64Array[] {
  const holders = names.flatMap((_, local) => entitled.map((_, record) => ({ local, places: [record] })));
  const waiters = waitersOf(waits);
  const takers = [...holders, ...waiters.takers];
  const offers = createOffers(
    entitled,
    takers.map(({ places }) => places),
  );
  const demands = takers.map(() => 0);
  for (const [taker, { local, places }] of holders.entries()) demands[taker] = held[local]?.[places[0] ?? -1] ?? 0;
  for (const [i, { gpus }] of waits.entries()) {
    const taker = holders.length + (waiters.takerOf[i] ?? -1);
    demands[taker] = (demands[taker] ?? 0) + gpus;
  }
  const task: Division = { offers, demands, locals: takers.map(({ local }) => local) };
  if (weights !== null) shareByWeight(task, sumOf(entitled), weights);
  else {
    keepHeld(task, held, entitled, holders.length);
    for (const isReserved of [true, false])
      for (const [i, wait] of waits.entries())
        if (wait.isReserved === isReserved)
          offers.take(holders.length + (waiters.takerOf[i] ?? -1), Math.max(0, wait.gpus));
  }
  return names.map((_, local) => {
    const sum = new Float64Array(entitled.length);
    for (const [taker, own] of offers.taken.entries())
      if (task.locals[taker] === local)
        for (const [record, gpus] of own.entries()) sum[record] = (sum[record] ?? 0) + gpus;
    return sum;
  });
}

interface Division {
  readonly offers: Offers;
  /** Of each taker. */
  readonly demands: readonly number[];
  /** Of each taker: its LocalQueue. */
  readonly locals: readonly number[];
}

interface Taker {
  readonly local: number;
  readonly places: readonly number[];
}

/** Work of one LocalQueue that may go to the same places is one taker: there may be tens of thousands of gangs. */
function waitersOf(waits: readonly LocalWait[]): {
  readonly takers: readonly Taker[];
  readonly takerOf: readonly number[];
} {
  const takers: Taker[] = [];
  const known = new Map<string, number>();
  const takerOf = waits.map(({ local, places }) => {
    const key = `${local} ${places.join(" ")}`;
    const taker = known.get(key) ?? takers.push({ local, places }) - 1;
    known.set(key, taker);
    return taker;
  });
  return { takers, takerOf };
}

/** First up to its share by weight; what a share cannot reach, because of where work may go, goes to whoever can use it there. */
function shareByWeight({ offers, demands, locals }: Division, amount: number, weights: readonly number[]): void {
  const caps = weights.map((_, local) => sumOf(demands.filter((_, taker) => locals[taker] === local)));
  const weighed = waterFill(amount, caps, weights).shares;
  const last = weights.map((weight) => (weight > 0 ? 0 : 1));
  const rest = waterFill(Math.max(0, amount - sumOf(weighed)), caps, last).shares;
  const left = weights.map((_, local) => (weighed[local] ?? 0) + (rest[local] ?? 0));
  const open = [...demands];
  for (const isBounded of [true, false])
    for (const [taker, local] of locals.entries()) {
      const most = Math.min(open[taker] ?? 0, isBounded ? (left[local] ?? 0) : Number.POSITIVE_INFINITY);
      const got = most > gpuTolerance ? offers.take(taker, most) : 0;
      open[taker] = (open[taker] ?? 0) - got;
      left[local] = (left[local] ?? 0) - got;
    }
}

/** What is held, as far as there is entitlement: each keeps the same part of it. */
function keepHeld(
  { offers, demands, locals }: Division,
  held: LocalWork["held"],
  entitled: readonly number[],
  holders: number,
): void {
  for (const [record, gpus] of entitled.entries()) {
    const own = held.map((amounts) => amounts[record] ?? 0);
    const { shares } = waterFill(gpus, own, own);
    for (let taker = record; taker < holders; taker += entitled.length)
      offers.take(taker, Math.min(demands[taker] ?? 0, shares[locals[taker] ?? -1] ?? 0));
  }
}
