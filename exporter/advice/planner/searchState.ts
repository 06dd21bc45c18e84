import { hasPlace, isLarger, type Layout, layoutOf, place } from "./layout.ts";
import type { Prepared } from "./prepare.ts";
import type { FoundPlan, PlanCost, PlannedMove, PlanPodKind } from "./problem.ts";

/** A pod that needs a place. */
export interface Item {
  /** Rank of its unit; `null`: the plan is for this pod. */
  readonly unit: number | null;
  /** Index into the pods of its unit. */
  readonly pod: number;
  readonly kind: PlanPodKind;
  /**
   * The node (index) that it leaves and must not go back to; `null`: none. Units of several pods leave as a whole, and their
   * pods may come back.
   */
  readonly notOn: number | null;
  /** A text that is equal for items that are alike. */
  readonly key: string;
}

/** An item and the node (index) on which it is put. */
export interface PlacedItem {
  readonly item: Item;
  readonly node: number;
}

/** A plan as far as it is made. */
export interface SearchState {
  readonly layout: Layout;
  readonly cost: PlanCost;
  readonly pending: readonly Item[];
  readonly placed: readonly PlacedItem[];
  readonly freed: readonly number[];
  readonly toFree: number;
}

/** The state in which nothing is moved or placed. */
export function firstState({ problem, idOf }: Prepared): SearchState {
  const { goal } = problem;
  const items =
    goal.kind === "free"
      ? []
      : goal.parts.flatMap(({ kind, pods }) =>
          Array.from(
            { length: pods },
            (_, pod): Item => ({ unit: null, pod, kind, notOn: null, key: `g${idOf(kind)}` }),
          ),
        );
  return {
    layout: layoutOf(problem),
    cost: { lost: 0, units: [] },
    pending: items.sort((a, b) =>
      isLarger(a.kind.demand, b.kind.demand) ? -1 : isLarger(b.kind.demand, a.kind.demand) ? 1 : 0,
    ),
    placed: [],
    freed: [],
    toFree: goal.kind === "free" ? goal.count : 0,
  };
}

/** The pods of a unit (rank) as items that need a place. */
export function itemsOf({ units, idOf }: Prepared, rank: number): readonly Item[] {
  const pods = units[rank]?.unit.pods ?? [];
  const isAlone = pods.length === 1;
  return pods.map(({ kind, node }, pod) => ({
    unit: rank,
    pod,
    kind,
    notOn: isAlone ? node : null,
    key: `u${rank}.${idOf(kind)}`,
  }));
}

/**
 * A key of the remaining work. It is the same wherever the same units have left, the same nodes are freed, and equal pods are
 * on the same nodes.
 */
export function keyOf({ cost, placed, freed }: SearchState): string {
  const where = placed.map(({ item, node }) => `${item.key}@${node}`).sort();
  return `${cost.units.join()}|${[...freed].sort((a, b) => a - b).join()}|${where.join()}`;
}

const accepts = (layout: Layout, { kind, notOn }: Item, node: number): boolean =>
  node !== notOn && hasPlace(layout, node, kind);

/** Yields the nodes with a place for an item now; those with the fewest free GPUs come first. */
export function* placesOf(prepared: Prepared, layout: Layout, item: Item): Generator<number, void> {
  const before = prepared.places(item.kind);
  for (const node of before) if (accepts(layout, item, node)) yield node;
  const known = new Set(before);
  const more = [...layout.touched.keys()].filter((node) => !known.has(node) && accepts(layout, item, node));
  yield* more.sort((a, b) => a - b);
}

/** The state with the item on a node; `null` if it has no place there. */
export function putDown(state: SearchState, item: Item, node: number): SearchState | null {
  if (node === item.notOn) return null;
  const layout = place(state.layout, node, item.kind);
  if (layout === null) return null;
  const at = state.pending.indexOf(item);
  const pending = state.pending.filter((_, i) => i !== at);
  return { ...state, layout, pending, placed: [...state.placed, { item, node }] };
}

/** The state with every remaining item on the first node that has a place for it; `null` if an item has no place. */
export function putAllDown(prepared: Prepared, state: SearchState): SearchState | null {
  let after: SearchState | null = state;
  for (const item of state.pending) {
    const [node] = placesOf(prepared, after.layout, item);
    after = node === undefined ? null : putDown(after, item, node);
    if (after === null) return null;
  }
  return after;
}

/** The plan with which a search ended. */
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

/**
 * The units in an order in which a unit leaves a node before others go there. If units wait for each other, the first one of
 * the problem comes first.
 */
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
