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

/** What the children of one queue left unmatched, and how many of them left anything. */
interface Unmatched {
  children: number;
  readonly starved: Amount[];
  readonly borrowers: Amount[];
}

const none: Unmatched = { children: 0, starved: [], borrowers: [] };

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
  const below: (Unmatched | undefined)[] = new Array(top + 1).fill(undefined);
  for (let i = sides.length - 1; i >= 0; i--) {
    const side = sides[i];
    const wants = needed[i] ?? 0;
    const has = held[i] ?? 0;
    const ofChildren = below[i];
    // Most queues have nothing to match, and neither do the queues below them.
    if (side === undefined || (wants === 0 && has === 0 && ofChildren === undefined)) continue;
    const own = { queue: i, view: side.queue, needs: wants > 0 && rule.mayTakeMore(i) ? wants : 0, has };
    const parent = side.parent ?? top;
    if (ofChildren === undefined) below[parent] = withOwn(below[parent], own);
    else below[parent] = together(below[parent], match(withOwn(ofChildren, own) ?? none, rule, pairs));
  }
  match(below[top] ?? none, rule, pairs);
  return pairs;
}

/** What a queue needs, and what it could hand over. */
interface OwnAmounts {
  readonly queue: number;
  readonly view: QueueView;
  readonly needs: number;
  readonly has: number;
}

/** Adds what is a queue's own, which is nothing for most. */
function withOwn(others: Unmatched | undefined, { queue, view, needs, has }: OwnAmounts): Unmatched | undefined {
  if (needs <= gpuTolerance && has <= gpuTolerance) return others;
  const all = others ?? { children: 0, starved: [], borrowers: [] };
  all.children += 1;
  if (needs > gpuTolerance) all.starved.push({ queue, view, gpus: needs });
  if (has > gpuTolerance) all.borrowers.push({ queue, view, gpus: has });
  return all;
}

function columnOf(amounts: ReadonlyMap<number, number>, length: number): Float64Array {
  const column = new Float64Array(length);
  for (const [index, gpus] of amounts) column[index] = gpus;
  return column;
}

/** Adds what one more child left unmatched. */
function together(siblings: Unmatched | undefined, { starved, borrowers }: Unmatched): Unmatched | undefined {
  if (starved.length + borrowers.length === 0) return siblings;
  if (siblings === undefined) return { children: 1, starved, borrowers };
  siblings.children += 1;
  for (const one of starved) siblings.starved.push(one);
  for (const one of borrowers) siblings.borrowers.push(one);
  return siblings;
}

/** Matches what children left unmatched. */
function match(children: Unmatched, rule: MoveRule, pairs: Pair[]): Unmatched {
  const { starved, borrowers } = children;
  if (children.children <= 1 || starved.length === 0) return children;
  starved.sort(largestFirst);
  borrowers.sort(largestFirst);
  let open = 0;
  for (const needy of starved) {
    serve(needy, borrowers, open, rule, pairs);
    while ((borrowers[open]?.gpus ?? 1) <= gpuTolerance) open += 1;
  }
  const isLeft = ({ gpus }: Amount): boolean => gpus > gpuTolerance;
  return {
    children: 1,
    starved: starved.filter((one) => isLeft(one) && rule.mayTakeMore(one.queue)),
    borrowers: borrowers.filter(isLeft),
  };
}

/** Gives a starved leaf what borrowers hand over, from the one at `open` on. */
function serve(needy: Amount, borrowers: readonly Amount[], open: number, rule: MoveRule, pairs: Pair[]): void {
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
}

function largestFirst(a: Amount, b: Amount): number {
  if (a.gpus !== b.gpus) return b.gpus - a.gpus;
  const [one, other] = [a.view, b.view];
  const byKind = compareText(one.scheduler, other.scheduler) || compareText(one.kind, other.kind);
  return byKind || compareText(one.name, other.name);
}
