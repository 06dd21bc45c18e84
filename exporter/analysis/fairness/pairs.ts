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

const none: Unmatched = { starved: [], borrowers: [] };

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
  // Most queues have nothing to match, and neither do the queues below them.
  const below = new Map<number | null, Unmatched[]>();
  for (let i = sides.length - 1; i >= 0; i--) {
    const side = sides[i];
    if (side === undefined) continue;
    const [needs, has, unmatched] = [starved.get(i) ?? 0, borrowers.get(i) ?? 0, below.get(i) ?? []];
    if (needs === 0 && has === 0 && unmatched.length === 0) continue;
    const mayTake = needs > 0 && rule.mayTakeMore(i);
    const leaf = { starved: amountOf(i, side, mayTake ? needs : 0), borrowers: amountOf(i, side, has) };
    const rest = match([...unmatched, leaf], rule, pairs);
    if (rest.starved.length + rest.borrowers.length === 0) continue;
    const siblings = below.get(side.parent);
    if (siblings === undefined) below.set(side.parent, [rest]);
    else siblings.push(rest);
  }
  match(below.get(null) ?? [], rule, pairs);
  return pairs;
}

const amountOf = (queue: number, { queue: view }: PairSide, gpus: number): readonly Amount[] =>
  gpus > gpuTolerance ? [{ queue, view, gpus }] : [];

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
