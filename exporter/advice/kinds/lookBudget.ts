import type { PlanLimits } from "../planner/problem.ts";

/** How far the questions of one kind of advice may look in one cycle, together. */
export interface LookBudget {
  /** For the next question. */
  limits(): PlanLimits;
  /** For what is asked beside. */
  readonly leastLimits: PlanLimits;
  /** Counts what a question looked at. */
  spend(looks: number): void;
}

/** All questions of a kind in one cycle. */
const looksPerCycle = 6_000;
/** A question may look so often even when all is used up: in a small cluster that is all there is to see. */
const leastPerQuestion = 1_000;

/** Half of what is left for each question: those with the most at stake come first, and may look the furthest. */
export function createLookBudget(): LookBudget {
  let left = looksPerCycle;
  return {
    limits: () => ({ looks: Math.max(leastPerQuestion, Math.floor(left / 2)) }),
    leastLimits: { looks: leastPerQuestion },
    spend(looks) {
      left = Math.max(0, left - looks);
    },
  };
}
