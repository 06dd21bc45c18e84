import { podsIn } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { leastLost, moreMoves } from "./evictions.ts";
import { layoutOf } from "./layout.ts";
import type { Prepared } from "./prepare.ts";
import type { PlanPodKind } from "./problem.ts";
import type { SearchState } from "./searchState.ts";

/** The least that pods of a kind need, wherever they go. */
export interface KindBound {
  /**
   * `placesOn`: for how many pods each node (index) has a place as it is; `places`: their sum; `most`: for how many pods one
   * node could have a place if all units left it.
   */
  readonly placesOn: ReadonlyMap<number, number>;
  readonly places: number;
  readonly most: number;
  /** Sums of the prices of the cheapest 1, 2, ... nodes, in millionths of GPU-hours. */
  readonly sums: readonly number[];
}

/** What must be added to a plan so far, at least. */
export interface LeastMore {
  readonly lost: number;
  readonly units: number;
}

const nothingMore: LeastMore = { lost: 0, units: 0 };
const impossible: LeastMore = { lost: Infinity, units: Infinity };

/** Bounds for the kinds of pods of the goal; they are worked out once. */
export function goalBoundsOf(prepared: Prepared): ReadonlyMap<PlanPodKind, KindBound> {
  const { goal } = prepared.problem;
  const bounds = new Map<PlanPodKind, KindBound>();
  if (goal.kind === "place")
    for (const { kind } of goal.parts) if (!bounds.has(kind)) bounds.set(kind, boundOf(prepared, kind));
  return bounds;
}

function boundOf(prepared: Prepared, kind: PlanPodKind): KindBound {
  const { problem, onNode } = prepared;
  const layout = layoutOf(problem);
  const placesOn = new Map<number, number>();
  const prices: number[] = [];
  let [places, most] = [0, 0];
  for (const node of prepared.takers(kind)) {
    const free = problem.nodes[node]?.free;
    if (free === undefined) continue;
    const fits = podsIn(free, kind.demand);
    if (fits > 0) placesOn.set(node, fits);
    places += fits;
    most = Math.max(most, podsFor(kind, clearedGpus(prepared, node)));
    const wish = { layout, node, kind, candidates: onNode.get(node) ?? [], movesLeft: moreMoves * problem.maxMoves };
    // A unit with pods on several nodes may free a place on each of them: its loss is divided among them.
    const least = leastLost(prepared, wish, ({ lost, gpusOn }) => lost / gpusOn.size);
    if (least < Infinity) prices.push(least);
  }
  prices.sort((a, b) => a - b);
  let sum = 0;
  const sums = prices.map((price) => {
    sum += price;
    return sum;
  });
  return { placesOn, places, most, sums };
}

/** The least that places for the remaining pods of the goal will cost. */
export function leastMore(
  prepared: Prepared,
  bounds: ReadonlyMap<PlanPodKind, KindBound>,
  { layout, pending }: SearchState,
): LeastMore {
  const waiting = new Map<PlanPodKind, number>();
  for (const { unit, kind } of pending) if (unit === null) waiting.set(kind, (waiting.get(kind) ?? 0) + 1);
  let more = nothingMore;
  for (const [kind, pods] of waiting) {
    const bound = bounds.get(kind);
    if (bound === undefined) continue;
    let { places } = bound;
    for (const [node, { placed }] of layout.touched) {
      if (!kind.takes(node)) continue;
      const taken = placed.reduce((sum, one) => sum + one.demand.gpus, 0);
      places += podsFor(kind, clearedGpus(prepared, node) - taken) - (bound.placesOn.get(node) ?? 0);
    }
    const missing = pods - places;
    if (missing <= 0) continue;
    const nodes = bound.most === 0 ? Infinity : Math.ceil(missing / bound.most);
    const lost = bound.sums[nodes - 1];
    if (lost === undefined) return impossible;
    more = { lost: Math.max(more.lost, lost), units: Math.max(more.units, Math.ceil(nodes / prepared.widest)) };
  }
  return more;
}

const podsFor = ({ demand }: PlanPodKind, gpus: number): number =>
  Math.max(0, Math.floor(gpus / demand.gpus + gpuTolerance));

/** Physical GPUs that would be free on a node without any unit. */
function clearedGpus({ problem, onNode, units }: Prepared, node: number): number {
  let gpus = problem.nodes[node]?.free.gpus ?? 0;
  for (const rank of onNode.get(node) ?? []) gpus += units[rank]?.gpusOn.get(node) ?? 0;
  return gpus;
}
