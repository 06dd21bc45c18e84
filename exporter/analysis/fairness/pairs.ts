import type { StarvedBorrower } from "./fairness.ts";
import { gpuTolerance } from "./waterFill.ts";

/** A queue that may be in pairs. */
export interface PairSide {
  /** Index into `Queueing.queues`. */
  readonly queue: number;
  /** Orders queues with equal amounts, so that the order of the list does not. */
  readonly name: string;
  /** Index of the parent in the same list, smaller than its own; `null` at the top. */
  readonly parent: number | null;
  /** Of a leaf; 0 of others. */
  readonly shortfall: number;
  /** Of a leaf: its excess, as far as advice may hand it to others; 0 of others. */
  readonly excess: number;
}

interface Amount {
  readonly queue: number;
  readonly name: string;
  readonly gpus: number;
}

interface Unmatched {
  readonly starved: readonly Amount[];
  readonly borrowers: readonly Amount[];
}

const none: Unmatched = { starved: [], borrowers: [] };

/**
 * Matches starved leaves with borrowers: close relatives first (under the lowest common parent), under one parent the largest
 * with the largest. Pairs come largest first. O(n log n) per level.
 */
export function pairUp(sides: readonly PairSide[]): readonly StarvedBorrower[] {
  const pairs: (StarvedBorrower & { readonly names: string })[] = [];
  const below: Unmatched[][] = sides.map(() => []);
  const atTop: Unmatched[] = [];
  for (let i = sides.length - 1; i >= 0; i--) {
    const side = sides[i];
    if (side === undefined) continue;
    const own = { queue: side.queue, name: side.name };
    const leaf: Unmatched = {
      starved: side.shortfall > gpuTolerance ? [{ ...own, gpus: side.shortfall }] : [],
      borrowers: side.excess > gpuTolerance ? [{ ...own, gpus: side.excess }] : [],
    };
    const rest = match([...(below[i] ?? []), leaf], pairs);
    if (rest.starved.length + rest.borrowers.length === 0) continue;
    if (side.parent === null) atTop.push(rest);
    else below[side.parent]?.push(rest);
  }
  match(atTop, pairs);
  return pairs
    .sort((a, b) => b.gpus - a.gpus || compareText(a.names, b.names))
    .map(({ starved, borrower, gpus }) => ({ starved, borrower, gpus }));
}

/** Matches what children left over; what stays is of one side only. */
function match(children: readonly Unmatched[], pairs: (StarvedBorrower & { readonly names: string })[]): Unmatched {
  if (children.length === 1) return children[0] ?? none;
  const starved = children.flatMap((child) => child.starved).sort(largestFirst);
  const borrowers = children.flatMap((child) => child.borrowers).sort(largestFirst);
  let [s, b] = [0, 0];
  let [starvedLeft, borrowerLeft] = [starved[0]?.gpus ?? 0, borrowers[0]?.gpus ?? 0];
  while (true) {
    const [needy, holder] = [starved[s], borrowers[b]];
    if (needy === undefined || holder === undefined) break;
    const gpus = Math.min(starvedLeft, borrowerLeft);
    pairs.push({ starved: needy.queue, borrower: holder.queue, gpus, names: `${needy.name}\0${holder.name}` });
    starvedLeft -= gpus;
    borrowerLeft -= gpus;
    if (starvedLeft <= gpuTolerance) starvedLeft = starved[++s]?.gpus ?? 0;
    if (borrowerLeft <= gpuTolerance) borrowerLeft = borrowers[++b]?.gpus ?? 0;
  }
  return { starved: restOf(starved, s, starvedLeft), borrowers: restOf(borrowers, b, borrowerLeft) };
}

function restOf(amounts: readonly Amount[], from: number, firstLeft: number): readonly Amount[] {
  return amounts.slice(from).map((amount, n) => (n === 0 ? { ...amount, gpus: firstLeft } : amount));
}

function largestFirst(a: Amount, b: Amount): number {
  return b.gpus - a.gpus || compareText(a.name, b.name);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
