import type { QueueView } from "../../join/queues/queueing.ts";
import { compareText } from "../../kernel/compareText.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";

/** A starved leaf and one above its entitlement, with what the latter could hand over. Physical GPUs. */
export interface Pair {
  readonly starved: number;
  readonly borrower: number;
  readonly gpus: number;
}

/** A queue of a tree, which is identified by its index in the list. */
export interface PairSide {
  /** The queue, by whose name queues with equal amounts are ordered, so that the order of the list does not matter. */
  readonly queue: QueueView;
  /** Index of the parent in the same list, smaller than its own; `null` at the top. */
  readonly parent: number | null;
}

/** What schedulers would move. Physical GPUs. */
export interface MoveRule {
  /** Whether a starved leaf may get anything more at all, from any borrower. */
  readonly mayTakeMore: (starved: number) => boolean;
  /** Returns how much of an amount a borrower hands over to a starved leaf; 0: nothing. */
  readonly take: (starved: number, borrower: number, gpus: number) => number;
}

interface Amount {
  readonly queue: number;
  readonly view: QueueView;
  gpus: number;
}

interface Unmatched {
  readonly starved: readonly Amount[];
  readonly borrowers: readonly Amount[];
}

const noAmounts: readonly Amount[] = [];
const none: Unmatched = { starved: noAmounts, borrowers: noAmounts };
const nothing: readonly Unmatched[] = [];

/**
 * Matches starved leaves with borrowers that may give them something: close relatives first (under the lowest common parent),
 * and under one parent the largest with the largest. O(n log n) per level if the first candidates may give it.
 */
export function pairUp(
  sides: readonly PairSide[],
  starved: ReadonlyMap<number, number>,
  borrowers: ReadonlyMap<number, number>,
  rule: MoveRule,
): readonly Pair[] {
  const pairs: Pair[] = [];
  if (starved.size === 0 || borrowers.size === 0) return pairs;
  const [needed, held] = [columnOf(starved, sides.length), columnOf(borrowers, sides.length)];
  // What is at the top comes last.
  const top = sides.length;
  const below: (Unmatched[] | undefined)[] = new Array(top + 1).fill(undefined);
  for (let i = sides.length - 1; i >= 0; i--) {
    const side = sides[i];
    const [needs, has, unmatched] = [needed[i] ?? 0, held[i] ?? 0, below[i] ?? nothing];
    // Most queues have nothing to match, and neither do the queues below them.
    if (side === undefined || needs + has + unmatched.length === 0) continue;
    const taken = needs > 0 && rule.mayTakeMore(i) ? needs : 0;
    const leaf = { starved: amountOf(i, side, taken), borrowers: amountOf(i, side, has) };
    const rest = matchBelow(unmatched, leaf, rule, pairs);
    if (rest.starved.length + rest.borrowers.length === 0) continue;
    const siblings = below[side.parent ?? top];
    if (siblings === undefined) below[side.parent ?? top] = [rest];
    else siblings.push(rest);
  }
  match(below[top] ?? nothing, rule, pairs);
  return pairs;
}

function columnOf(amounts: ReadonlyMap<number, number>, length: number): Float64Array {
  const column = new Float64Array(length);
  for (const [index, gpus] of amounts) column[index] = gpus;
  return column;
}

const amountOf = (queue: number, { queue: view }: PairSide, gpus: number): readonly Amount[] =>
  gpus > gpuTolerance ? [{ queue, view, gpus }] : noAmounts;

/** Matches what a queue's children left unmatched with what is its own. Most queues have no children. */
const matchBelow = (unmatched: readonly Unmatched[], own: Unmatched, rule: MoveRule, pairs: Pair[]): Unmatched =>
  unmatched.length === 0 ? own : match([...unmatched, own], rule, pairs);

/** Matches what children left unmatched. */
function match(children: readonly Unmatched[], rule: MoveRule, pairs: Pair[]): Unmatched {
  const some = children.filter((child) => child.starved.length + child.borrowers.length > 0);
  if (some.length <= 1) return some[0] ?? none;
  const starved = some.flatMap((child) => child.starved).sort(largestFirst);
  if (starved.length === 0) return { starved, borrowers: some.flatMap((child) => child.borrowers) };
  const borrowers = some.flatMap((child) => child.borrowers).sort(largestFirst);
  let open = 0;
  for (const needy of starved) {
    for (let at = open; at < borrowers.length && needy.gpus > gpuTolerance; at++) {
      const holder = borrowers[at];
      if (holder === undefined || holder.gpus <= gpuTolerance) continue;
      const gpus = rule.take(needy.queue, holder.queue, Math.min(needy.gpus, holder.gpus));
      if (gpus <= gpuTolerance) continue;
      pairs.push({ starved: needy.queue, borrower: holder.queue, gpus });
      needy.gpus -= gpus;
      holder.gpus -= gpus;
      if (!rule.mayTakeMore(needy.queue)) break;
    }
    while ((borrowers[open]?.gpus ?? 1) <= gpuTolerance) open += 1;
  }
  const isLeft = ({ gpus }: Amount): boolean => gpus > gpuTolerance;
  return {
    starved: starved.filter((one) => isLeft(one) && rule.mayTakeMore(one.queue)),
    borrowers: borrowers.filter(isLeft),
  };
}

function largestFirst(a: Amount, b: Amount): number {
  if (a.gpus !== b.gpus) return b.gpus - a.gpus;
  const [one, other] = [a.view, b.view];
  const byKind = compareText(one.scheduler, other.scheduler) || compareText(one.kind, other.kind);
  return byKind || compareText(one.name, other.name);
}
