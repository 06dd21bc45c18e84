import {
  cheapestFirst,
  leastLost,
  lostBy,
  type PricedNode,
  pricesOf,
  type UnitSet,
  unitSets,
  type Wish,
} from "./evictions.ts";
import { goalBoundsOf, type KindBound, leastMore } from "./goalBound.ts";
import { close, takeOff } from "./layout.ts";
import type { Prepared } from "./prepare.ts";
import { compareCost, type PlanCost, type PlanPodKind } from "./problem.ts";
import {
  firstState,
  type Item,
  itemsOf,
  keyOf,
  placesOf,
  planOf,
  putAllDown,
  putDown,
  type SearchState,
} from "./searchState.ts";

/** The rules and limits of one search. */
export interface SearchRules {
  readonly maxMoves: number;
  readonly looks: number;
  /** Whether pods may also leave so that other moved pods have a place. */
  readonly movesOthers: boolean;
  /** Whether pods that leave must have a place. */
  readonly placesMoved: boolean;
  readonly heedsGuards: boolean;
  /** Only a plan that is better than this one counts; `null`: any plan counts. */
  readonly betterThan: SearchState | null;
}

export interface SearchResult {
  readonly best: SearchState | null;
  /** Whether every way that could be better was tried. */
  readonly isComplete: boolean;
  readonly looks: number;
  readonly metGuards: boolean;
  /** Why the first plan that reached the goal and was refused could not be carried out; `null`: no plan was refused. */
  readonly refusal: string | null;
}

/** The state of a search. */
interface Search {
  readonly prepared: Prepared;
  readonly rules: SearchRules;
  readonly bounds: ReadonlyMap<PlanPodKind, KindBound>;
  /** Keys of the states that were explored. */
  readonly seen: Set<string>;
  /** Whether units may move together, by their ranks. */
  readonly judged: Map<string, boolean>;
  best: SearchState | null;
  looks: number;
  isOver: boolean;
  metGuards: boolean;
  refusal: string | null;
  refused: number;
}

/**
 * Searches depth first with bounds. A pod that has no place yet is put on each node that has a place for it, and then on each
 * node that has one after the fewest necessary units have left; the pods of these units then need places as well. A pod with
 * more places than there are pods left to put down is left for the end, unless rules about the pods around it decide: the
 * others cannot take all of its places. Nothing that is skipped is therefore better than what was found.
 */
export function searchPlan(prepared: Prepared, rules: SearchRules): SearchResult {
  const bounds = goalBoundsOf(prepared);
  const search: Search = {
    prepared,
    rules,
    bounds,
    seen: new Set<string>(),
    judged: new Map<string, boolean>(),
    best: rules.betterThan,
    looks: 0,
    isOver: false,
    metGuards: false,
    refusal: null,
    refused: 0,
  };
  explore(search, firstState(prepared));
  const { best, isOver, looks, metGuards, refusal } = search;
  return { best: best === rules.betterThan ? null : best, isComplete: !isOver, looks, metGuards, refusal };
}

function explore(search: Search, state: SearchState): void {
  if (search.isOver || !isBetter(search, state.cost)) return;
  const key = keyOf(state);
  if (search.seen.has(key)) return;
  search.seen.add(key);
  if (state.toFree > 0) {
    freeNode(search, state);
    return;
  }
  if (!canBeBetter(search, state)) return;
  const next = hardest(search, state);
  if (next === "none has a place") return;
  if (next === "all have places") {
    const done = putAllDown(search.prepared, state);
    if (done !== null && mayBeCarriedOut(search, done)) search.best = done;
    return;
  }
  for (const item of beside(state, next)) {
    usePlace(search, state, item);
    if (search.rules.movesOthers || item.unit === null) makePlace(search, state, item);
  }
}

/** The pods that are each tried as the next one: where rules decide, a pod may find a place only before or after another. */
function beside({ pending }: SearchState, next: Item): readonly Item[] {
  if (next.unit === null || next.kind.like === undefined) return [next];
  const ruled = pending.filter(({ unit, kind, key }) => unit !== null && kind.like !== undefined && key !== next.key);
  return [next, ...new Map(ruled.map((item) => [item.key, item] as const)).values()];
}

/**
 * The fewest plans that may be refused in one search. More may be refused if there are few nodes, because each plan is tried on
 * all of them.
 */
const leastRefused = 30;
const refusedTimesNodes = 5000;

function mayBeCarriedOut(search: Search, state: SearchState): boolean {
  const { prepared, rules } = search;
  const { refusalOf } = prepared.problem;
  if (refusalOf === undefined || !rules.placesMoved || !rules.heedsGuards || state.cost.units.length === 0) return true;
  const refusal = refusalOf(planOf(prepared, state));
  if (refusal === null) return true;
  search.refusal ??= refusal;
  search.refused += 1;
  const most = Math.max(leastRefused, refusedTimesNodes / prepared.problem.nodes.length);
  if (search.refused >= most) search.isOver = true;
  return false;
}

/** Counts a step; returns whether another may follow. */
function look(search: Search): boolean {
  search.looks += 1;
  if (search.looks >= search.rules.looks) search.isOver = true;
  return !search.isOver;
}

const isBetter = ({ best }: Search, cost: PlanCost): boolean => best === null || compareCost(cost, best.cost) < 0;

/** Whether the plan can still become better than the best so far, considering the least that the goal still costs. */
function canBeBetter({ prepared, rules, bounds, best }: Search, state: SearchState): boolean {
  const { lost, units } = leastMore(prepared, bounds, state);
  if (state.cost.units.length + units > rules.maxMoves) return false;
  return best === null || state.cost.lost + lost <= best.cost.lost;
}

/** Puts a pod on each node that has a place for it. */
function usePlace(search: Search, state: SearchState, item: Item): void {
  for (const node of placesOf(search.prepared, state.layout, item)) {
    if (!look(search)) return;
    const put = putDown(state, item, node);
    if (put !== null) explore(search, put);
    if (search.isOver) return;
  }
}

/** Puts a pod on each node where other pods can leave for it; the nodes that may be cheapest come first. */
function makePlace(search: Search, state: SearchState, item: Item): void {
  const { prepared, rules } = search;
  const { touched, closed } = state.layout;
  const movesLeft = rules.maxMoves - state.cost.units.length;
  if (movesLeft === 0) return;
  const wishOn = (node: number): Wish => ({
    layout: state.layout,
    node,
    kind: item.kind,
    movesLeft,
    candidates: staying(search, state, node),
  });
  const changed = [...touched.keys()]
    .filter((node) => item.kind.takes(node))
    .map((node): PricedNode => ({ node, least: leastLost(prepared, wishOn(node)) }))
    .sort((a, b) => a.least - b.least || a.node - b.node);
  const unchanged = pricesOf(prepared, item.kind);
  const isChanged = new Set(changed);
  for (const priced of cheapestFirst(changed, unchanged)) {
    const { node, least } = priced;
    if (search.best !== null && state.cost.lost + least > search.best.cost.lost) return;
    if (node === item.notOn || closed.has(node) || (touched.has(node) && !isChanged.has(priced))) continue;
    if (!look(search)) return;
    clear(search, state, item, wishOn(node));
    if (search.isOver) return;
  }
}

/** Puts a pod on a node after other pods have left the node for it. */
function clear(search: Search, state: SearchState, item: Item, wish: Wish): void {
  if (wish.candidates.length === 0 || leastLost(search.prepared, wish) === Infinity) return;
  const candidates = wish.candidates.filter((rank) => mayMove(search, [rank]));
  for (const set of unitSets(search.prepared, { ...wish, candidates }, () => look(search))) {
    const after = without(search, state, set);
    const put = after === null ? null : putDown(after, item, wish.node);
    if (put !== null) explore(search, put);
    if (search.isOver) return;
  }
}

/** Frees each node that can be freed, the cheapest first. */
function freeNode(search: Search, state: SearchState): void {
  const { prepared, rules } = search;
  const { goal, fixedNodes } = prepared.problem;
  if (goal.kind !== "free") return;
  const ways: { readonly node: number; readonly set: UnitSet }[] = [];
  for (const node of goal.nodes) {
    if (state.layout.closed.has(node) || fixedNodes.has(node)) continue;
    const set = setOf(prepared, staying(search, state, node));
    if (state.cost.units.length + set.units.length <= rules.maxMoves) ways.push({ node, set });
  }
  ways.sort((a, b) => a.set.lost - b.set.lost || a.node - b.node);
  for (const { node, set } of ways) {
    if (!look(search)) return;
    const after = without(search, state, set);
    if (after === null) continue;
    const { layout, freed, toFree } = after;
    explore(search, { ...after, layout: close(layout, node), freed: [...freed, node], toFree: toFree - 1 });
  }
}

const setOf = (prepared: Prepared, units: readonly number[]): UnitSet => ({ units, lost: lostBy(prepared, units) });

const staying = ({ prepared }: Search, { cost }: SearchState, node: number): readonly number[] =>
  (prepared.onNode.get(node) ?? []).filter((rank) => !cost.units.includes(rank));

/**
 * The state of the search after these units have left; `null` if they must not leave, or if it is no better than the best so
 * far.
 */
function without(search: Search, state: SearchState, set: UnitSet): SearchState | null {
  const { prepared, rules } = search;
  const ranks = [...state.cost.units, ...set.units].sort((a, b) => a - b);
  const cost: PlanCost = { lost: state.cost.lost + set.lost, units: ranks };
  if (!isBetter(search, cost) || !mayMove(search, ranks)) return null;
  const leaving = set.units.flatMap((rank) => prepared.units[rank]?.unit.pods ?? []);
  const layout = takeOff(state.layout, leaving);
  if (layout === null) return null;
  const items = rules.placesMoved ? set.units.flatMap((rank) => itemsOf(prepared, rank)) : [];
  return { ...state, layout, cost, pending: [...state.pending, ...items] };
}

function mayMove(search: Search, ranks: readonly number[]): boolean {
  const { prepared, rules, judged } = search;
  if (!rules.heedsGuards) return true;
  const key = ranks.join();
  const known = judged.get(key);
  if (known !== undefined) return known;
  const may = prepared.problem.vetoesOf(ranks).length === 0;
  if (!may) search.metGuards = true;
  judged.set(key, may);
  return may;
}

/** The pod to be placed next: one of those that the plan is for, or else the one with the fewest places. */
function hardest(search: Search, state: SearchState): Item | "all have places" | "none has a place" {
  const { layout, pending, cost } = state;
  const canLeave = cost.units.length < search.rules.maxMoves;
  let hard: Hard | null = null;
  const asked = new Set<string>();
  for (const item of pending) {
    if (asked.has(item.key)) continue;
    asked.add(item.key);
    look(search);
    const places = countPlaces(search.prepared, layout, item, pending.length);
    // Where rules decide, one pod may take many places of another.
    if (places >= pending.length && item.kind.like === undefined) continue;
    if (places === 0 && !(canLeave && (search.rules.movesOthers || item.unit === null))) return "none has a place";
    if (hard === null || isHarder({ item, places }, hard)) hard = { item, places };
  }
  return hard?.item ?? "all have places";
}

interface Hard {
  readonly item: Item;
  readonly places: number;
}

function isHarder(a: Hard, b: Hard): boolean {
  if (a.item.unit === null || b.item.unit === null) return a.item.unit === null && b.item.unit !== null;
  return a.places < b.places;
}

function countPlaces(prepared: Prepared, layout: SearchState["layout"], item: Item, most: number): number {
  let places = 0;
  for (const _ of placesOf(prepared, layout, item)) {
    places += 1;
    if (places >= most) break;
  }
  return places;
}
