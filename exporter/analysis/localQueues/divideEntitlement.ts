import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { sumOf, waterFill } from "../fairness/waterFill.ts";
import type { LocalWork } from "./localWork.ts";

/**
 * Divides what a ClusterQueue is entitled to in each of its records among its LocalQueues. The result is in physical GPUs, by
 * LocalQueue and record, and adds up to what is given, as far as there is demand for it.
 *
 * With weights, each LocalQueue gets the weighted max-min share of all that the ClusterQueue is entitled to, and what it holds
 * is the first part of that; a LocalQueue without weight gets what the others leave. Without weights (`null`) nothing ranks
 * LocalQueues: what is allocated stays; where it is too much, each keeps the same part of it; and waiting work follows in the
 * order in which its queue serves it.
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

/** What each LocalQueue holds, which comes before what waits, and the taker of each waiting part. */
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

/**
 * Gives each taker at most its share by weight; what a share cannot reach, because of where work may go, goes to those that can
 * use it.
 */
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

/** Keeps what is allocated, as far as there is entitlement: each taker keeps the same part of it. */
function keepAllocated(offers: Offers, takers: readonly Taker[], entitled: readonly number[]): void {
  for (const [record, amount] of entitled.entries()) {
    const own = [...takers.entries()].filter(([, { isAllocated, places }]) => isAllocated && places[0] === record);
    const amounts = own.map(([, { gpus }]) => gpus);
    const { shares } = waterFill(amount, amounts, amounts);
    for (const [i, [taker]] of own.entries()) offers.take(taker, shares[i] ?? 0);
  }
}

/** Sums by LocalQueue and record. */
function sumsOf({ taken }: Offers, takers: readonly Taker[], sums: readonly Float64Array[]): readonly Float64Array[] {
  for (const [taker, own] of taken.entries()) {
    const sum = sums[takers[taker]?.local ?? -1];
    if (sum !== undefined) for (const [record, gpus] of own.entries()) sum[record] = (sum[record] ?? 0) + gpus;
  }
  return sums;
}

/** What may be taken from some places, by takers each of which may go to some of them. Physical GPUs. */
interface Offers {
  /**
   * Takes up to an amount, moving what others have taken to other places of theirs where this helps; returns what was taken.
   */
  take(taker: number, gpus: number): number;
  /** What was taken, by taker, then by place. */
  readonly taken: readonly Float64Array[];
}

/**
 * Creates offers of places; `takers` are the places to which each taker may go, its favourite first. No taker loses anything to
 * a later one, and nothing is left that could have been taken, because each taking is an augmenting path.
 */
function createOffers(offered: readonly number[], takers: readonly (readonly number[])[]): Offers {
  const left = Float64Array.from(offered, (gpus) => Math.max(0, gpus));
  const taken = takers.map(() => new Float64Array(offered.length));
  const takersAt = offered.map((_, place) =>
    takers.flatMap((places, taker) => (places.includes(place) ? [taker] : [])),
  );
  const market: Market = { left, taken, takers, takersAt };
  return {
    taken,
    take(taker, gpus) {
      let wanted = gpus;
      // Mostly more is asked for than there is; then nothing needs to be searched.
      while (wanted > gpuTolerance && left.some((there) => there > gpuTolerance)) {
        const path = pathFor(taker, market);
        if (path === null) break;
        wanted -= moveAlong(path, wanted, market);
      }
      return gpus - wanted;
    },
  };
}

interface Market {
  readonly left: Float64Array;
  readonly taken: readonly Float64Array[];
  readonly takers: readonly (readonly number[])[];
  /** The takers that may go to each place. */
  readonly takersAt: readonly (readonly number[])[];
}

/** What a taker takes at a place, or moves there from another one. */
interface Move {
  readonly taker: number;
  readonly from: number | null;
  readonly to: number;
}

/**
 * The moves that make room for a taker: from the place that has some back to one where the taker may go; `null`: there are
 * none.
 */
function pathFor(taker: number, { left, taken, takers, takersAt }: Market): readonly Move[] | null {
  const moves = new Map<number, Move>();
  const reach = (by: number, from: number | null): void => {
    for (const to of takers[by] ?? []) if (!moves.has(to)) moves.set(to, { taker: by, from, to });
  };
  reach(taker, null);
  // A Map also visits entries that are added during the iteration.
  for (const place of moves.keys()) {
    if ((left[place] ?? 0) > gpuTolerance) return pathTo(place, moves);
    for (const other of takersAt[place] ?? []) if ((taken[other]?.[place] ?? 0) > gpuTolerance) reach(other, place);
  }
  return null;
}

function pathTo(place: number, moves: ReadonlyMap<number, Move>): readonly Move[] {
  const path: Move[] = [];
  for (let next: number | null = place; next !== null; ) {
    const move = moves.get(next);
    if (move === undefined) break;
    path.push(move);
    next = move.from;
  }
  return path;
}

/** Moves as much as all places of a path have; returns how much. */
function moveAlong(path: readonly Move[], most: number, { left, taken }: Market): number {
  const end = path[0]?.to ?? -1;
  const there = path.flatMap(({ taker, from }) => (from === null ? [] : [taken[taker]?.[from] ?? 0]));
  const gpus = Math.min(most, left[end] ?? 0, ...there);
  for (const { taker, from, to } of path) {
    const own = taken[taker];
    if (own === undefined) continue;
    own[to] = (own[to] ?? 0) + gpus;
    if (from !== null) own[from] = (own[from] ?? 0) - gpus;
  }
  left[end] = (left[end] ?? 0) - gpus;
  return gpus;
}
