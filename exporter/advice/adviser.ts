import type { Analysis } from "../analysis/analysis.ts";
import { inOneStep, type Steps } from "../kernel/steps.ts";
import type { ReceivedAlert } from "../model/receivedAlert.ts";
import { type Advice, noAdvice } from "../model/recommendation.ts";
import type { StoredAdvice } from "../model/storedAdvice.ts";
import type { AdviceSettings } from "./adviceSettings.ts";
import { findOffersInSteps, type OffersFound } from "./findOffers.ts";
import { createAdviceLife } from "./life/adviceLife.ts";
import { nothingWatched, type UsageWatch, watchUsageInSteps } from "./usage/usageWatch.ts";

/** Gives advice from cycle to cycle, and hears what becomes of it. */
export interface Adviser {
  /** The advice of one more moment. */
  adviseInSteps(analysis: Analysis): Steps<Advice>;
  /** The last advice, with what was dismissed or alerted since; none before the first moment. */
  latest(): Advice;
  /** Whether there was open advice of that id. */
  dismiss(id: string, by: string, reason: string, at: number): boolean;
  /** Takes in alerts; the subject of one that fires gets a fresh plan from the last moment. */
  hearInSteps(alerts: readonly ReceivedAlert[], at: number): Steps<Advice>;
  /** What the ledger must keep since it was last asked. */
  takeChanges(): readonly StoredAdvice[];
}

/** An adviser that begins with what the ledger kept. */
export function createAdviser(
  settings: AdviceSettings,
  intervalSeconds: number,
  stored: readonly StoredAdvice[] = [],
): Adviser {
  const life = createAdviceLife(settings, intervalSeconds, stored);
  /** By fingerprint, those that fire. */
  const firing = new Map<string, ReceivedAlert>();
  let usage: UsageWatch = nothingWatched;
  let last: { readonly analysis: Analysis; readonly found: OffersFound } | null = null;

  function latest(): Advice {
    if (last === null) return noAdvice;
    const { recommendations, withheld } = life.latest();
    const { found } = last;
    return {
      recommendations,
      withheld: [...found.withheld, ...withheld],
      reducibleFragmentation: found.reducibleFragmentation,
    };
  }

  return {
    *adviseInSteps(analysis) {
      if (!settings.enabled) return noAdvice;
      usage = yield* watchUsageInSteps(usage, analysis);
      yield;
      const found = yield* findOffersInSteps({ analysis, settings, usage }, [...firing.values()]);
      yield;
      life.advance(found.offers, analysis);
      last = { analysis, found };
      return latest();
    },
    latest,
    dismiss: (id, by, reason, at) => life.dismiss(id, by, reason, at),
    *hearInSteps(alerts, at) {
      for (const alert of alerts) {
        if (alert.status === "firing") firing.set(alert.fingerprint, alert);
        else firing.delete(alert.fingerprint);
      }
      life.link(alerts, at);
      if (last !== null && settings.enabled && alerts.some(({ status }) => status === "firing")) {
        const { analysis } = last;
        const found = yield* findOffersInSteps({ analysis, settings, usage }, [...firing.values()]);
        last = { analysis, found };
        life.advance(found.offers, analysis);
      }
      return latest();
    },
    takeChanges: () => life.takeChanges(),
  };
}

/** The advice of one moment alone, as a dump is looked at: nothing has to stand before it is shown. */
export function adviseOnce(analysis: Analysis, settings: AdviceSettings, intervalSeconds: number): Advice {
  return inOneStep(createAdviser({ ...settings, standingCycles: 1 }, intervalSeconds).adviseInSteps(analysis));
}
