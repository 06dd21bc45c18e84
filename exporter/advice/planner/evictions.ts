import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { freeOn, hasPlace, type Layout, layoutOf, takeOff } from "./layout.ts";
import type { Prepared, RankedUnit } from "./prepare.ts";
import type { PlanPodKind } from "./problem.ts";

/** Units (ranks, ascending) that would leave together, and what would be lost. */
export interface UnitSet {
  readonly units: readonly number[];
  readonly lost: number;
}

/** A pod that needs a place on a node, and the units that may leave for it. */
export interface Wish {
  readonly layout: Layout;
  readonly node: number;
  readonly kind: PlanPodKind;
  /** Ranks of the units on the node that have not left so far. */
  readonly candidates: readonly number[];
  /** How many more units may leave. */
  readonly movesLeft: number;
}

/**
 * The least, in millionths of GPU-hours, that must be lost for a pod to have its place: as if units could leave in parts.
 * `Infinity` if it can have none, because the units on the node hold too little.
 */
export function leastLost(
  { units }: Prepared,
  { layout, node, kind, candidates, movesLeft }: Wish,
  lossOf: (unit: RankedUnit) => number = ({ lost }) => lost,
): number {
  let missing = kind.demand.gpus - freeOn(layout, node) - gpuTolerance;
  if (missing <= 0) return 0;
  const allocated: { readonly gpus: number; readonly lost: number }[] = [];
  for (const rank of candidates) {
    const unit = units[rank];
    const gpus = unit?.gpusOn.get(node) ?? 0;
    if (unit !== undefined && gpus > 0) allocated.push({ gpus, lost: lossOf(unit) });
  }
  allocated.sort((a, b) => b.gpus - a.gpus);
  let most = 0;
  for (let i = 0; i < allocated.length && i < movesLeft; i++) most += allocated[i]?.gpus ?? 0;
  if (most < missing) return Infinity;
  allocated.sort((a, b) => a.lost / a.gpus - b.lost / b.gpus);
  let lost = 0;
  for (const one of allocated) {
    const part = Math.min(1, missing / one.gpus);
    lost += part * one.lost;
    missing -= one.gpus;
    if (missing <= 0) break;
  }
  // Sums of parts may be slightly larger than the whole.
  return Math.max(0, Math.floor(lost - 1));
}

/**
 * The sets of units that free a place for the pod if they leave, where no smaller part of the set would; the cheapest set comes
 * first. `look` counts a set that is tried and returns whether it may be tried.
 */
export function unitSets(prepared: Prepared, wish: Wish, look: () => boolean): readonly UnitSet[] {
  const { layout, node, kind, movesLeft } = wish;
  const sorted = byLikeness(prepared, wish.candidates);
  const found: UnitSet[] = [];
  const missing = kind.demand.gpus - freeOn(layout, node) - gpuTolerance;
  const gpusOf = (rank: number): number => prepared.units[rank]?.gpusOn.get(node) ?? 0;

  /** Tries a set; returns whether to go on. */
  const tryOut = (chosen: readonly number[]): boolean => {
    if (found.some(({ units }) => units.every((rank) => chosen.includes(rank)))) return true;
    if (!look()) return false;
    const units = [...chosen].sort((a, b) => a - b);
    if (makesPlace(prepared, layout, node, kind, units)) found.push({ units, lost: lostBy(prepared, units) });
    return true;
  };

  const choose = (from: number, chosen: readonly number[], given: number, size: number): boolean => {
    if (chosen.length === size) return given < missing || tryOut(chosen);
    for (let i = from; i < sorted.length; i++) {
      const rank = sorted[i];
      if (rank === undefined || !mayFollow(prepared, sorted, i, chosen)) continue;
      if (!choose(i + 1, [...chosen, rank], given + gpusOf(rank), size)) return false;
    }
    return true;
  };

  for (let size = 1; size <= Math.min(movesLeft, sorted.length); size++) if (!choose(0, [], 0, size)) break;
  return found.sort((a, b) => a.lost - b.lost || a.units.length - b.units.length || compareRanks(a.units, b.units));
}

/** What is lost if units (ranks) leave, in millionths of GPU-hours. */
export function lostBy({ units }: Prepared, ranks: readonly number[]): number {
  return ranks.reduce((sum, rank) => sum + (units[rank]?.lost ?? 0), 0);
}

/** Whether a unit may be added to the chosen ones: of units that are alike, the cheaper one leaves first. */
function mayFollow({ units }: Prepared, sorted: readonly number[], i: number, chosen: readonly number[]): boolean {
  const [rank, before] = [sorted[i], sorted[i - 1]];
  if (rank === undefined || before === undefined) return true;
  return units[rank]?.likeness !== units[before]?.likeness || chosen.at(-1) === before;
}

/** Sorts units so that the cheapest come first, each followed by all units that are like it. */
function byLikeness({ units }: Prepared, ranks: readonly number[]): readonly number[] {
  const cheapestFirst = [...ranks].sort((a, b) => (units[a]?.lost ?? 0) - (units[b]?.lost ?? 0) || a - b);
  return [...Map.groupBy(cheapestFirst, (rank) => units[rank]?.likeness ?? "").values()].flat();
}

function makesPlace(
  { units }: Prepared,
  layout: Layout,
  node: number,
  kind: PlanPodKind,
  ranks: readonly number[],
): boolean {
  const pods = ranks.flatMap((rank) => units[rank]?.unit.pods.filter((pod) => pod.node === node) ?? []);
  const after = takeOff(layout, pods);
  return after !== null && hasPlace(after, node, kind);
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [i, rank] of a.entries()) if (rank !== b[i]) return rank - (b[i] ?? -1);
  return 0;
}

/** A node, and the least that must be lost so that a pod has a place on it, in millionths of GPU-hours. */
export interface PricedNode {
  readonly node: number;
  readonly least: number;
}

/** To explain why there is no plan, up to this many times the moves of one plan are tried. */
export const moreMoves = 2;

/**
 * The price of every node for pods of a kind now, the cheapest first; nodes that cannot be used are left out. It is computed
 * once: for nodes that a plan has not touched, it stays correct.
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

/** Merges two lists that are sorted by price. */
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
