import type { AdviceAct } from "./adviceAct.ts";
import type { AdviceKind } from "./recommendation.ts";

/**
 * What became of the work that a recommendation named, whether it was taken or not. `came-back`: it worked again by itself
 * within the horizon, so that the recommendation was wrong. `evicted-again`: pods that a plan had moved lost their place once
 * more. `stayed`: neither happened until the horizon was over. `ended`: the work ended by itself before.
 */
export const aftermathOutcomes = ["came-back", "evicted-again", "stayed", "ended"] as const;

export type AftermathOutcome = (typeof aftermathOutcomes)[number];

/** The outcome, once it is known. */
export interface Aftermath {
  readonly outcome: AftermathOutcome;
  /** When the outcome was seen, seconds since the epoch. */
  readonly at: number;
  /** GPU-hours that following the recommendation would have cost, or did cost, for nothing; 0 where it was right. */
  readonly regretGpuHours: number;
}

/** How recommendations of one kind and act turned out within the last 30 days. */
export interface AdviceTrackRecord {
  readonly kind: AdviceKind;
  readonly act: AdviceAct;
  /** Number of recommendations by outcome. */
  readonly outcomes: Readonly<Record<AftermathOutcome, number>>;
  readonly regretGpuHours: number;
}

/**
 * Counts the recommendations with a known outcome: all of them, and those that turned out wrong because the work came back or
 * was evicted again.
 */
export function wrongOf(outcomes: AdviceTrackRecord["outcomes"]): { readonly wrong: number; readonly all: number } {
  const wrong = outcomes["came-back"] + outcomes["evicted-again"];
  return { wrong, all: aftermathOutcomes.reduce((sum, outcome) => sum + outcomes[outcome], 0) };
}
