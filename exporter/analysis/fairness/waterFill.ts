import { gpuTolerance } from "../../model/gpuTolerance.ts";

/** The result of `waterFill`. */
export interface Filled {
  /** The shares, parallel to the caps. */
  readonly shares: Float64Array;
  /** What each unit of weight got if no cap stopped it; `Infinity` where all caps were reached. */
  readonly level: number;
}

/** Sum of amounts. */
export function sumOf(amounts: Iterable<number>): number {
  let sum = 0;
  for (const amount of amounts) sum += amount;
  return sum;
}

/**
 * Divides an amount in proportion to weights: share = min(cap, level x weight - base), at least 0, with the level at which the
 * amount is used up; the base is what a taker already has, where that counts. A share that reaches its cap is exactly the cap.
 * Without any weight above 0 all shares are 0. O(n log n).
 */
export function waterFill(
  amount: number,
  caps: ArrayLike<number>,
  weights: ArrayLike<number>,
  bases?: ArrayLike<number>,
): Filled {
  const shares = new Float64Array(caps.length);
  let wanted = 0;
  for (let index = 0; index < caps.length; index++) {
    const cap = caps[index] ?? 0;
    if (cap <= 0 || (weights[index] ?? 0) <= 0) continue;
    shares[index] = cap;
    wanted += cap;
  }
  if (wanted <= amount + gpuTolerance) return { shares, level: Number.POSITIVE_INFINITY };
  const takers = takersOf(caps, weights, bases);
  const level = levelOf(Math.max(0, amount), takers);
  for (const taker of takers) shares[taker.index] = shareAt(level, taker);
  return { shares, level };
}

interface Taker {
  readonly index: number;
  readonly cap: number;
  readonly weight: number;
  readonly base: number;
}

function takersOf(
  caps: ArrayLike<number>,
  weights: ArrayLike<number>,
  bases: ArrayLike<number> | undefined,
): readonly Taker[] {
  const takers: Taker[] = [];
  for (let index = 0; index < caps.length; index++) {
    const cap = caps[index] ?? 0;
    const weight = weights[index] ?? 0;
    if (cap > 0 && weight > 0) takers.push({ index, cap, weight, base: bases?.[index] ?? 0 });
  }
  return takers;
}

function shareAt(level: number, { cap, weight, base }: Taker): number {
  return Math.min(cap, Math.max(0, level * weight - base));
}

/**
 * The level at which an amount that is less than all caps together is used up. The sum of shares grows with the level in
 * straight pieces, which change where a taker begins to take or is full. The piece is found by bisection, and its slope is
 * summed anew, so that no rounding error builds up.
 */
function levelOf(amount: number, takers: readonly Taker[]): number {
  const bends = new Float64Array(2 * takers.length + 1);
  let count = 1;
  for (const { cap, weight, base } of takers) {
    bends[count++] = base / weight;
    bends[count++] = (base + cap) / weight;
  }
  bends.sort();
  const taken = (level: number): number => {
    let sum = 0;
    for (const taker of takers) sum += shareAt(level, taker);
    return sum;
  };
  let [low, high] = [0, bends.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (taken(bends[middle] ?? 0) <= amount) low = middle;
    else high = middle;
  }
  const from = bends[low] ?? 0;
  let slope = 0;
  for (const { cap, weight, base } of takers) {
    if (base / weight <= from && (base + cap) / weight > from) slope += weight;
  }
  return slope > 0 ? from + (amount - taken(from)) / slope : from;
}
