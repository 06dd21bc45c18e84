import { nameWords } from "../../kernel/nameWords.ts";
import type { AdviceStep } from "../../model/recommendation.ts";

/**
 * All leave before any of them is requeued, and that happens only once the beneficiary has started: otherwise GPUs that become
 * free first would go back to where they came from.
 */
export function returnAfterStart(
  leave: readonly AdviceStep[],
  again: readonly AdviceStep[],
  started: readonly string[],
): readonly AdviceStep[] {
  const last = leave.at(-1);
  if (last === undefined) return again;
  const waitFor = `${last.waitFor ?? "It is done."} Then ${nameWords(started)} ${started.length === 1 ? "has" : "have"} started.`;
  return [...leave.slice(0, -1), { ...last, waitFor }, ...again];
}
