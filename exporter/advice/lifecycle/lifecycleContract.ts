import type { Analysis } from "../../analysis/analysis.ts";
import type { AdviceTrackRecord } from "../../model/aftermath.ts";
import type { ReceivedAlert } from "../../model/receivedAlert.ts";
import type { Recommendation, WithheldAdvice } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import type { OpenPlan } from "../moment.ts";
import type { Offer } from "../offer.ts";
import type { Searched } from "../rounds/searchRounds.ts";

/** The advice that is visible after one moment. */
export interface LivingAdvice {
  /** Open recommendations, those that are worth most first; then those that closed lately, the newest first. */
  readonly recommendations: readonly Recommendation[];
  /** Offers that are not shown yet or not again: `standing`, `cool-down`, `dismissed`. */
  readonly withheld: readonly WithheldAdvice[];
}

/** The search that found the offers of a moment. */
export type SearchOfOffers = Pick<Searched, "at" | "isNew" | "withdrawn">;

/** Follows every piece of advice from its first moment to its end. Times come in as arguments. */
export interface AdviceLifecycle {
  /**
   * Takes in one more moment: what is offered, in order of worth, and the reasons why others are not offered. `search`: which
   * search found it; absent: that of this moment.
   */
  advance(
    offers: readonly Offer[],
    analysis: Analysis,
    reasons?: readonly WithheldAdvice[],
    search?: SearchOfOffers,
  ): LivingAdvice;
  /** Takes in a moment whose offers are unknown: advice that is no longer valid expires. */
  lapse(at: number): void;
  /** Open advice, by id. */
  openPlans(): ReadonlyMap<string, OpenPlan>;
  /** The advice that is visible now, without a new moment: after a dismissal or an alert. */
  latest(): LivingAdvice;
  /** How the advice that was shown turned out, by kind and act. */
  trackRecords(at: number): readonly AdviceTrackRecord[];
  /** Close open advice that a person does not want, or reports as done: then it is measured. `false`: no such id is open. */
  dismiss(id: string, by: string, reason: string, at: number): boolean;
  take(id: string, by: string, at: number): boolean;
  /** Links alerts with the advice for their subjects; the same alert twice is one. */
  link(alerts: readonly ReceivedAlert[], at: number): void;
  /** The changes since the last call, which the ledger must store. */
  takeChanges(): readonly StoredAdvice[];
}
