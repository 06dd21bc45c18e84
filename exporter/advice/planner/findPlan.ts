import type { Steps } from "../../kernel/steps.ts";
import type { FoundPlan, PlanAnswer, PlannedMove } from "./plan.ts";
import { type Prepared, prepareInSteps } from "./prepare.ts";
import { defaultPlanLimits, type PlanLimits, type PlanProblem } from "./problem.ts";
import { type SearchResult, type SearchRules, searchPlan } from "./search.ts";
import type { SearchState } from "./searchState.ts";
import { tooLittle, whyNot } from "./whyNot.ts";

/**
 * Finds the cheapest way to reach the goal by moving units: fewest GPU-hours lost, then fewest units, then the first by
 * name. Every pod that moves has a place, and each place that is taken is taken off before the next is looked for. Looks
 * first for plans in which only pods on the goal's own nodes leave, then, with what that found as a bound, for those in which
 * others make place in their turn. Each of the two, and each question why there is none, looks at most half as often as
 * `limits` says. Pure; the order of nodes and units does not matter.
 */
export function* findPlanInSteps(problem: PlanProblem, limits: PlanLimits = defaultPlanLimits): Steps<PlanAnswer> {
  const impossible = tooLittle(problem);
  if (impossible !== null) return { plan: null, noPlan: impossible, isExact: true, looks: 0, metGuards: false };
  const prepared = yield* prepareInSteps(problem);
  yield;
  const half = Math.max(1, Math.floor(limits.looks / 2));
  const rules: SearchRules = {
    ...{ maxMoves: problem.maxMoves, looks: half },
    ...{ movesOthers: false, placesMoved: true, heedsGuards: true, betterThan: null },
  };
  const direct = yield* searchPlan(prepared, rules);
  const all = yield* searchPlan(prepared, { ...rules, movesOthers: true, betterThan: direct.best });
  const best = all.best ?? direct.best;
  const found = {
    isExact: all.isComplete,
    looks: direct.looks + all.looks,
    metGuards: direct.metGuards || all.metGuards,
  };
  if (best === null) return { plan: null, noPlan: yield* whyNot(prepared, rules, all), ...found };
  if (best.cost.units.length === 0) return { plan: null, noPlan: alreadySo(problem), ...found };
  return { plan: planOf(prepared, best), noPlan: null, ...found };
}

/** The cheapest plan if nothing spoke against it: what the guards cost. `null` where none was found. */
export function* findPlanWithoutGuardsInSteps(
  problem: PlanProblem,
  limits: PlanLimits = defaultPlanLimits,
): Steps<FoundPlan | null> {
  const answer = yield* findPlanInSteps({ ...problem, vetoesOf: () => [] }, limits);
  return answer.plan;
}

const alreadySo = ({ goal }: PlanProblem): PlanAnswer["noPlan"] => ({
  code: "nothing-to-gain",
  words: goal.kind === "place" ? "it fits as things are: nothing has to move" : "so many nodes are free already",
  vetoes: [],
});

/** The plan that a search ended with. */
export function planOf(prepared: Prepared, state: NonNullable<SearchResult["best"]>): FoundPlan {
  const order = orderOf(prepared, state);
  const moves = order.flatMap((rank) => movesOf(prepared, state, rank));
  const placed = state.placed.filter(({ item }) => item.unit === null).map(({ node }) => node);
  const goalNodes = [...placed, ...state.freed].sort(
    (a, b) => (prepared.nodeRank[a] ?? a) - (prepared.nodeRank[b] ?? b),
  );
  const units = order.flatMap((rank) => prepared.units[rank]?.index ?? []);
  const lostGpuHours = order.reduce((sum, rank) => sum + (prepared.units[rank]?.unit.lostGpuHours ?? 0), 0);
  return { units, moves, goalNodes, lostGpuHours };
}

function movesOf({ units }: Prepared, { placed }: SearchState, rank: number): readonly PlannedMove[] {
  const found = units[rank];
  if (found === undefined) return [];
  const toOf = new Map<number, number>();
  for (const { item, node } of placed) if (item.unit === rank) toOf.set(item.pod, node);
  return found.unit.pods.flatMap(({ pod, node }, i) => {
    const to = toOf.get(i);
    return to === undefined ? [] : [{ unit: found.index, pod, from: node, to }];
  });
}

/** Units that leave a node to which others go come before those; where they wait for each other, the first by name. */
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
