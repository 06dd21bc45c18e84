import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { sumOf, waterFill } from "../fairness/waterFill.ts";
import type { LocalWork } from "./localWork.ts";
import { createOffers, type Offers } from "./offers.ts";

/**
 * Divides what a ClusterQueue is entitled to in each of its records among its LocalQueues: by LocalQueue and record, physical GPUs.
 * It adds up to what is given as far as their demand reaches.
 *
 * With weights: the weighted max-min share of all that the ClusterQueue is entitled to, of which what a LocalQueue holds is the first
 * part; a LocalQueue without weight gets what the others leave. Without weights (`null`) nothing ranks LocalQueues: what is allocated stays,
 * where it is too much each keeps the same part of it, and waiting work follows in the order in which its queue serves it.
 */
export function divideEntitlement(
  { names, allocated, waits }: Pick<LocalWork, "names" | "allocated" | "waits">,
  entitled: readonly number[],
  weights: readonly number[] | null,
): readonly Float64Array[] {
  const { takers, takerOf } = takersOf(allocated, waits, entitled.length);
  const places = takers.map((taker) => taker.places);
  const offers = createOffers(entitled, places);
  if (weights === null) {
    keepAllocated(offers, takers, entitled);
    for (const isReserved of [true, false])
      for (const [i, wait] of waits.entries())
        if (wait.isReserved === isReserved) offers.take(takerOf[i] ?? -1, wait.gpus);
  } else shareByWeight(offers, takers, sumOf(entitled), weights);
  return sumsOf(
    offers,
    takers,
    names.map(() => new Float64Array(entitled.length)),
  );
}

/** Work of one LocalQueue that may go to the same places: there may be tens of thousands of gangs. */
interface Taker {
  readonly local: number;
  readonly places: readonly number[];
  readonly isAllocated: boolean;
  gpus: number;
}

/** What is allocated, of each LocalQueue, before what waits; and the taker of each waiting part. */
function takersOf(
  allocated: LocalWork["allocated"],
  waits: LocalWork["waits"],
  records: number,
): { readonly takers: readonly Taker[]; readonly takerOf: readonly number[] } {
  const takers: Taker[] = [];
  for (const [local, own] of allocated.entries())
    for (let record = 0; record < records; record++) {
      const gpus = own[record] ?? 0;
      if (gpus > 0) takers.push({ local, places: [record], isAllocated: true, gpus });
    }
  const known = new Map<string, number>();
  const takerOf = waits.map(({ local, places, gpus }) => {
    const key = `${local} ${places.join(" ")}`;
    const index = known.get(key) ?? takers.push({ local, places, isAllocated: false, gpus: 0 }) - 1;
    known.set(key, index);
    const taker = takers[index];
    if (taker !== undefined) taker.gpus += gpus;
    return index;
  });
  return { takers, takerOf };
}

/** First up to its share by weight; what a share cannot reach, because of where work may go, goes to whoever can use it there. */
function shareByWeight(offers: Offers, takers: readonly Taker[], amount: number, weights: readonly number[]): void {
  const caps = new Float64Array(weights.length);
  for (const { local, gpus } of takers) caps[local] = (caps[local] ?? 0) + gpus;
  const weighed = waterFill(amount, caps, weights).shares;
  const last = weights.map((weight) => (weight > 0 ? 0 : 1));
  const rest = waterFill(Math.max(0, amount - sumOf(weighed)), caps, last).shares;
  const left = weights.map((_, local) => (weighed[local] ?? 0) + (rest[local] ?? 0));
  const open = takers.map(({ gpus }) => gpus);
  for (const isBounded of [true, false])
    for (const [taker, { local }] of takers.entries()) {
      const most = Math.min(open[taker] ?? 0, isBounded ? (left[local] ?? 0) : Number.POSITIVE_INFINITY);
      const got = most > gpuTolerance ? offers.take(taker, most) : 0;
      open[taker] = (open[taker] ?? 0) - got;
      left[local] = (left[local] ?? 0) - got;
    }
}

/** What is allocated, as far as there is entitlement: each keeps the same part of it. */
function keepAllocated(offers: Offers, takers: readonly Taker[], entitled: readonly number[]): void {
  for (const [record, amount] of entitled.entries()) {
    const own = [...takers.entries()].filter(([, { isAllocated, places }]) => isAllocated && places[0] === record);
    const amounts = own.map(([, { gpus }]) => gpus);
    const { shares } = waterFill(amount, amounts, amounts);
    for (const [i, [taker]] of own.entries()) offers.take(taker, shares[i] ?? 0);
  }
}

/** By LocalQueue and record. */
function sumsOf({ taken }: Offers, takers: readonly Taker[], sums: readonly Float64Array[]): readonly Float64Array[] {
  for (const [taker, own] of taken.entries()) {
    const sum = sums[takers[taker]?.local ?? -1];
    if (sum !== undefined) for (const [record, gpus] of own.entries()) sum[record] = (sum[record] ?? 0) + gpus;
  }
  return sums;
}
