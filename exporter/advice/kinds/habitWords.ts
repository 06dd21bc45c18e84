import type { IdlePast } from "../decideAct.ts";
import { countWords, durationWords, percentWords } from "./words.ts";

const bases = {
  own: "by its own past",
  cluster: "by what other work of this cluster did",
  published: "by what is published of idle work elsewhere",
} as const;

/** `came back 6 of 7 times, after 8 min`; what is known of its pauses, in a few words. */
export function habitWords({ neverWorked, habit, estimate }: IdlePast): string {
  if (neverWorked) return "never worked since it began";
  const { spells, returns, medianReturnSeconds } = estimate;
  if (spells > 0) {
    const after = medianReturnSeconds === null ? "" : `, after ${durationWords(medianReturnSeconds)}`;
    return `came back ${returns} of ${spells} times${after}`;
  }
  if (habit === undefined || habit.spells.length === 0) return "not known yet";
  const longest = habit.longestReturnSeconds;
  const often = countWords(habit.spells.length, "shorter pause");
  return longest === 0
    ? `${often}, none of which ended in work`
    : `${often}, came back after ${durationWords(longest)} at most`;
}

/** How likely it is to work again, and what that rests on. */
export const returnWords = ({ neverWorked, estimate }: IdlePast, horizonHours: number): string | null =>
  neverWorked ? null : `${percentWords(estimate.returnProbability)} within ${horizonHours} h, ${bases[estimate.basis]}`;
