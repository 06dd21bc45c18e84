import type { PlanLimits } from "../planner/problem.ts";

/** How many steps the questions of one kind of advice may search in one cycle, together. */
export interface LookBudget {
  /** The limits of the next question. */
  limits(): PlanLimits;
  /** The limits of questions that are asked besides. */
  readonly leastLimits: PlanLimits;
  /** Counts the steps that a question used. */
  spend(looks: number): void;
}

/** The steps of all questions of a kind in one cycle. */
const looksPerCycle = 6_000;
/** The steps that each question has even when all are used up: enough to see all of a small cluster. */
const leastPerQuestion = 1_000;

/** Each question gets half of what is left: those with the most at stake come first, and may search the furthest. */
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
