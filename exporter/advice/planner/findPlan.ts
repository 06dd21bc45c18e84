import { prepare } from "./prepare.ts";
import { defaultPlanLimits, type PlanAnswer, type PlanLimits, type PlanProblem } from "./problem.ts";
import { type SearchRules, searchPlan } from "./search.ts";
import { planOf } from "./searchState.ts";
import { tooLittle, whyNot } from "./whyNot.ts";

/**
 * Finds the cheapest way to reach the goal by moving units: fewest GPU-hours lost, then fewest units, then those that
 * come first in the problem. Every pod that moves has a place, and each place that is taken is taken off before the next is looked for. Looks
 * first for plans in which only pods on the goal's own nodes leave, then, with what that found as a bound, for those in which
 * others make place in their turn. Each of the two, and each question why there is none, looks at most half as often as
 * `limits` says. Pure; the order of nodes and units decides only
 * between plans that cost the same, and what is found where not all can be looked at.
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
