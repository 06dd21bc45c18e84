import type { PlanPodKind, PlanProblem } from "../../../exporter/advice/planner/problem.ts";
import { freeCapacityAfter } from "./planBuilder.ts";

/** What is lost and how many units move; `null` without a plan. */
export interface NaiveCost {
  readonly lost: number;
  readonly moves: number;
  readonly names: readonly string[];
}

interface Seat {
  readonly kind: PlanPodKind;
  readonly notOn: number | null;
}

/** The cheapest of all plans, by trying every set of units and every place of every pod. */
export function bruteForce(problem: PlanProblem): NaiveCost | null {
  const { units, goal, maxMoves } = problem;
  let best: NaiveCost | null = null;
  for (let set = 0; set < 2 ** units.length; set++) {
    const chosen = units.flatMap((_, i) => ((set >> i) & 1 ? [i] : []));
    if (chosen.length > maxMoves || problem.vetoesOf(chosen).length > 0) continue;
    const lost = chosen.reduce((sum, i) => sum + (units[i]?.lostGpuHours ?? 0), 0);
    const names = chosen.map((i) => units[i]?.name ?? "").sort();
    const cost = { lost, moves: chosen.length, names };
    if (best !== null && compareNaive(best, cost) <= 0) continue;
    const gone = new Set(chosen);
    const seats = chosen.flatMap((i): Seat[] => {
      const pods = units[i]?.pods ?? [];
      return pods.map(({ kind, node }) => ({ kind, notOn: pods.length === 1 ? node : null }));
    });
    const own =
      goal.kind === "place" ? goal.parts.flatMap(({ kind, pods }) => Array<PlanPodKind>(pods).fill(kind)) : [];
    const all = [...own.map((kind) => ({ kind, notOn: null })), ...seats];
    const closings =
      goal.kind === "place" ? [[]] : choices(goal.nodes, goal.count).filter((nodes) => areEmpty(problem, nodes, gone));
    if (closings.some((closed) => canSeatAll(problem, gone, all, closed))) best = cost;
  }
  return best;
}

export function compareNaive(a: NaiveCost, b: NaiveCost): number {
  if (Math.abs(a.lost - b.lost) > 1e-9) return a.lost - b.lost;
  if (a.moves !== b.moves) return a.moves - b.moves;
  const [one, other] = [a.names.join("\n"), b.names.join("\n")];
  return one < other ? -1 : one > other ? 1 : 0;
}

const areEmpty = ({ units, fixedNodes }: PlanProblem, nodes: readonly number[], gone: ReadonlySet<number>): boolean =>
  nodes.every(
    (node) =>
      !fixedNodes.has(node) && units.every(({ pods }, i) => gone.has(i) || pods.every((pod) => pod.node !== node)),
  );

function choices(of: readonly number[], count: number): number[][] {
  if (count === 0) return [[]];
  return of.flatMap((one, i) => choices(of.slice(i + 1), count - 1).map((others) => [one, ...others]));
}

function canSeatAll(
  problem: PlanProblem,
  gone: ReadonlySet<number>,
  seats: readonly Seat[],
  closed: readonly number[],
  put: ReadonlyMap<number, readonly PlanPodKind[]> = new Map(),
): boolean {
  const [seat, ...others] = seats;
  if (seat === undefined) return true;
  return problem.nodes.some((_, node) => {
    if (node === seat.notOn || closed.includes(node)) return false;
    const here = [...(put.get(node) ?? []), seat.kind];
    if (freeCapacityAfter(problem, node, gone, here) === null) return false;
    return canSeatAll(problem, gone, others, closed, new Map(put).set(node, here));
  });
}

/**
 * What a person would do: for each pod of the goal take the node that costs least when the cheapest pods leave it one by one
 * until it fits, and put each of those at once where it fits tightest. `null` where that leads nowhere.
 */
export function greedy(problem: PlanProblem): NaiveCost | null {
  const { units, goal, nodes } = problem;
  if (goal.kind !== "place") return null;
  let state: GreedyState = { gone: new Set(), put: new Map(), lost: 0 };
  for (const kind of goal.parts.flatMap(({ kind: one, pods }) => Array<PlanPodKind>(pods).fill(one))) {
    const ways = nodes.map((_, node) => clearFor(problem, state, kind, node)).filter((way) => way !== null);
    const [first, ...others] = ways;
    if (first === undefined) return null;
    state = others.reduce((best, way) => (way.lost < best.lost ? way : best), first);
  }
  const { gone, lost } = state;
  if (gone.size > problem.maxMoves || problem.vetoesOf([...gone]).length > 0) return null;
  return { lost, moves: gone.size, names: [...gone].map((i) => units[i]?.name ?? "").sort() };
}

interface GreedyState {
  readonly gone: ReadonlySet<number>;
  readonly put: ReadonlyMap<number, readonly PlanPodKind[]>;
  readonly lost: number;
}

/** The cheapest units leave a node one by one until the pod fits. */
function clearFor(problem: PlanProblem, before: GreedyState, kind: PlanPodKind, node: number): GreedyState | null {
  const { units } = problem;
  const costOf = (i: number): number => units[i]?.lostGpuHours ?? 0;
  const leaving = units
    .map((_, i) => i)
    .filter((i) => problem.vetoesOf([i]).length === 0 && !before.gone.has(i))
    .filter((i) => units[i]?.pods.some((pod) => pod.node === node))
    .sort((a, b) => costOf(a) - costOf(b));
  const gone = new Set(before.gone);
  const here = [...(before.put.get(node) ?? []), kind];
  const taken: number[] = [];
  while (freeCapacityAfter(problem, node, gone, here) === null) {
    const next = leaving.shift();
    if (next === undefined) return null;
    gone.add(next);
    taken.push(next);
  }
  const put = new Map(before.put).set(node, here);
  if (!taken.every((i) => seatTightest(problem, i, gone, put))) return null;
  return { gone, put, lost: before.lost + taken.reduce((sum, i) => sum + costOf(i), 0) };
}

/** Puts each pod of a unit on another node, where it fits tightest; whether all found a place. */
function seatTightest(
  problem: PlanProblem,
  unit: number,
  gone: ReadonlySet<number>,
  seats: Map<number, readonly PlanPodKind[]>,
): boolean {
  return (problem.units[unit]?.pods ?? []).every(({ node, kind }) => {
    const at = (to: number): readonly PlanPodKind[] => seats.get(to) ?? [];
    const free = (to: number): number => freeCapacityAfter(problem, to, gone, at(to))?.gpus ?? Infinity;
    const to = problem.nodes
      .map((_, other) => other)
      .sort((a, b) => free(a) - free(b))
      .find((other) => other !== node && freeCapacityAfter(problem, other, gone, [...at(other), kind]) !== null);
    if (to !== undefined) seats.set(to, [...at(to), kind]);
    return to !== undefined;
  });
}
