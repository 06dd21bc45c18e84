import type { Analysis } from "../../analysis/analysis.ts";
import type { ReceivedAlert } from "../../model/receivedAlert.ts";
import type { Recommendation, WithheldAdvice } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import type { AdviceSettings } from "../adviceSettings.ts";
import type { Offer } from "../offer.ts";

/** What one moment leaves to be seen. */
export interface LivingAdvice {
  /** Open ones, most worth first; then what closed lately, newest first. */
  readonly recommendations: readonly Recommendation[];
  /** Offers that are not shown yet or not again: `standing`, `cool-down`, `dismissed`. */
  readonly withheld: readonly WithheldAdvice[];
}

/** Follows every piece of advice from its first sight to its end. Times come in as arguments. */
export interface AdviceLife {
  /** One more moment with its offers, in order of worth. */
  advance(offers: readonly Offer[], analysis: Analysis): LivingAdvice;
  /** What would be seen now without a new moment: after a dismissal or an alert. */
  latest(): LivingAdvice;
  /** Closes open advice; `false` where there is none of that id. `by` and `reason` are bounded text. */
  dismiss(id: string, by: string, reason: string, at: number): boolean;
  /** Links an alert with the advice for its subject; the same alert twice is one. */
  link(alerts: readonly ReceivedAlert[], at: number): void;
  /** What changed since it was last asked: what the ledger must keep. */
  takeChanges(): readonly StoredAdvice[];
}

/** The life of advice in a process that begins with what the ledger kept. */
export function createAdviceLife(
  _settings: AdviceSettings,
  _intervalSeconds: number,
  _stored: readonly StoredAdvice[],
): AdviceLife {
  const nothing: LivingAdvice = { recommendations: [], withheld: [] };
  return {
    advance: () => nothing,
    latest: () => nothing,
    dismiss: () => false,
    link: () => {},
    takeChanges: () => [],
  };
}
