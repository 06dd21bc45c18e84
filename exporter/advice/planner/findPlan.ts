import { prepare } from "./prepare.ts";
import { defaultPlanLimits, type PlanAnswer, type PlanLimits, type PlanProblem } from "./problem.ts";
import { type SearchRules, searchPlan } from "./search.ts";
import { planOf } from "./searchState.ts";
import { tooLittle, whyNot } from "./whyNot.ts";

/**
 * Finds the cheapest way to reach the goal by moving units: the fewest GPU-hours lost, then the fewest units, then those that
 * come first in the problem. Every pod that moves has a place, and each place that is taken is subtracted before the next is
 * looked for. The first search is for plans in which only pods on the goal's own nodes leave. The second search, with the
 * result of the first as a bound, is for plans in which other pods leave as well to free places for those that move. Each of
 * the two searches, and each search for the reason why there is no plan, may make half of the looks in `limits`. Pure; the
 * order of nodes and units only decides between plans that cost the same, and which plan is found if not all can be tried.
 */
export function findPlan(problem: PlanProblem, limits: PlanLimits = defaultPlanLimits): PlanAnswer {
  const impossible = tooLittle(problem);
  if (impossible !== null) return { plan: null, noPlan: impossible, isExact: true, looks: 0, metGuards: false };
  const prepared = prepare(problem);
  const half = Math.max(1, Math.floor(limits.looks / 2));
  const rules: SearchRules = {
    maxMoves: problem.maxMoves,
    looks: half,
    movesOthers: false,
    placesMoved: true,
    heedsGuards: true,
    betterThan: null,
  };
  const direct = searchPlan(prepared, rules);
  const all = searchPlan(prepared, { ...rules, movesOthers: true, betterThan: direct.best });
  const best = all.best ?? direct.best;
  const found = {
    isExact: all.isComplete,
    looks: direct.looks + all.looks,
    metGuards: direct.metGuards || all.metGuards,
  };
  if (best === null)
    return {
      plan: null,
      noPlan: whyNot(prepared, rules, { ...all, refusal: direct.refusal ?? all.refusal }),
      ...found,
    };
  if (best.cost.units.length === 0) return { plan: null, noPlan: alreadySo(problem), ...found };
  return { plan: planOf(prepared, best), noPlan: null, ...found };
}

const alreadySo = ({ goal }: PlanProblem): PlanAnswer["noPlan"] => ({
  code: "nothing-to-gain",
  words: goal.kind === "place" ? "it fits as things are: nothing has to move" : "enough nodes are free already",
  vetoes: [],
});
