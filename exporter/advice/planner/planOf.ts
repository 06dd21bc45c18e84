import type { FoundPlan, PlannedMove } from "./plan.ts";
import type { Prepared } from "./prepare.ts";
import type { SearchState } from "./searchState.ts";

/** The plan that a search ended with. */
export function planOf(prepared: Prepared, state: SearchState): FoundPlan {
  const order = orderOf(prepared, state);
  const moves = order.flatMap((rank) => movesOf(prepared, state, rank));
  const placed = state.placed.filter(({ item }) => item.unit === null).map(({ node }) => node);
  const goalNodes = [...placed, ...state.freed].sort((a, b) => a - b);
  const lostGpuHours = order.reduce((sum, rank) => sum + (prepared.units[rank]?.unit.lostGpuHours ?? 0), 0);
  return { units: order, moves, goalNodes, lostGpuHours };
}

function movesOf({ units }: Prepared, { placed }: SearchState, rank: number): readonly PlannedMove[] {
  const found = units[rank];
  if (found === undefined) return [];
  const toOf = new Map<number, number>();
  for (const { item, node } of placed) if (item.unit === rank) toOf.set(item.pod, node);
  return found.unit.pods.flatMap(({ pod, node }, i) => {
    const to = toOf.get(i);
    return to === undefined ? [] : [{ unit: rank, pod, from: node, to }];
  });
}

/** Units that leave a node to which others go come before those; if they wait for each other, the first one of the problem. */
function orderOf({ units }: Prepared, { cost, placed }: SearchState): readonly number[] {
  const left = [...cost.units];
  const order: number[] = [];
  const isWaiting = (rank: number): boolean =>
    placed.some(
      ({ item, node }) =>
        item.unit === rank && left.some((other) => other !== rank && units[other]?.gpusOn.has(node) === true),
    );
  while (left.length > 0) {
    const at = Math.max(
      0,
      left.findIndex((rank) => !isWaiting(rank)),
    );
    order.push(...left.splice(at, 1));
  }
  return order;
}
