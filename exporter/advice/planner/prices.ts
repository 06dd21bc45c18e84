import { leastLost, type Wish } from "./evictions.ts";
import { layoutOf } from "./layout.ts";
import type { Prepared } from "./prepare.ts";
import type { PlanPodKind } from "./problem.ts";

/** A node, and the least that must be lost for a pod to have a place on it; millionths of GPU-hours. */
export interface PricedNode {
  readonly node: number;
  readonly least: number;
}

/** To explain why there is no plan, at most this many times as many moves are tried as one plan may have. */
export const moreMoves = 2;

/**
 * What every node costs for pods of a kind now, the cheapest first; nodes that cannot be used are left out. Computed once: for
 * nodes that a plan has not touched it stays true.
 */
export function pricesOf(prepared: Prepared, kind: PlanPodKind): readonly PricedNode[] {
  const known = prepared.prices.get(kind);
  if (known !== undefined) return known;
  const { maxMoves } = prepared.problem;
  const layout = layoutOf(prepared.problem);
  const prices: PricedNode[] = [];
  for (const node of prepared.takers(kind)) {
    const candidates = prepared.onNode.get(node) ?? [];
    if (candidates.length === 0) continue;
    const wish: Wish = { layout, node, kind, candidates, movesLeft: moreMoves * maxMoves };
    const least = leastLost(prepared, wish);
    if (least < Infinity) prices.push({ node, least });
  }
  prices.sort((a, b) => a.least - b.least);
  prepared.prices.set(kind, prices);
  return prices;
}

/** Merges two lists that each begin with the cheapest. */
export function* cheapestFirst(
  first: readonly PricedNode[],
  second: readonly PricedNode[],
): Generator<PricedNode, void> {
  let [i, k] = [0, 0];
  while (i < first.length || k < second.length) {
    const [a, b] = [first[i], second[k]];
    if (a !== undefined && (b === undefined || a.least <= b.least)) {
      yield a;
      i += 1;
    } else if (b !== undefined) {
      yield b;
      k += 1;
    }
  }
}
