import type { Analysis } from "../analysis/analysis.ts";
import type { Problem } from "../model/problem.ts";
import type { ReceivedAlert } from "../model/receivedAlert.ts";
import { type Advice, adviceKinds, noAdvice } from "../model/recommendation.ts";
import type { StoredAdvice, StoredWithheld } from "../model/storedAdvice.ts";
import { createAdviceLifecycle } from "./lifecycle/adviceLifecycle.ts";
import { createWithheldLog } from "./lifecycle/withheldLog.ts";
import type { AdviceMoment, AdviceSettings } from "./moment.ts";
import { createSearchRounds, type Searched } from "./rounds/searchRounds.ts";
import type { Habit } from "./usage/habit.ts";
import { longestGapSeconds, nothingWatched, type UsageWatch, watchUsage } from "./usage/usageWatch.ts";
import { type Habits, nothingKnown, watchHabits } from "./usage/watchHabits.ts";

/** Gives advice from cycle to cycle, and takes in what becomes of it. */
export interface Adviser {
  /** The advice of one more moment; `problems` are the known faults of its sources. Errors are thrown. */
  advise(analysis: Analysis, sourceProblems?: readonly Problem[]): Advice;
  /** The last advice, with everything that was dismissed, taken or alerted about since; `noAdvice` before the first moment. */
  latest(): Advice;
  /** Dismisses advice. Returns whether there was open advice with this id. */
  dismiss(id: string, by: string, reason: string, at: number): boolean;
  /**
   * Notes that a person has carried out advice: it is measured from the next moment on. Returns whether there was open advice
   * with this id.
   */
  take(id: string, by: string, at: number): boolean;
  /**
   * Takes in alerts and returns the advice that follows: the subject of one that fires gets a fresh plan from the last moment.
   */
  receive(alerts: readonly ReceivedAlert[], at: number): Advice;
  /** The changes of recommendations since the last call, which the ledger must store. */
  takeChanges(): readonly StoredAdvice[];
  /** The changes of withheld advice since the last call, which the ledger must store. */
  takeWithheld(): readonly StoredWithheld[];
  /** Habits that have changed since the last call, by their keys; `null`: forgotten. */
  takeHabits(): ReadonlyMap<string, Habit | null>;
}

/** Makes an adviser that begins with what the ledger has stored. */
export function createAdviser(
  settings: AdviceSettings,
  intervalSeconds: number,
  stored: readonly StoredAdvice[] = [],
  knownHabits: Pick<Habits, "known" | "cluster"> = nothingKnown,
): Adviser {
  const lifecycle = createAdviceLifecycle(settings, intervalSeconds, stored);
  const withheldLog = createWithheldLog();
  const rounds = createSearchRounds();
  let usage: UsageWatch = nothingWatched;
  let habits: Habits = { ...nothingKnown, ...knownHabits };
  let last: {
    readonly analysis: Analysis;
    readonly sourceProblems: readonly Problem[];
    readonly found: Searched;
  } | null = null;

  const momentOf = (analysis: Analysis, sourceProblems: readonly Problem[]): AdviceMoment => {
    const open = lifecycle.openPlans();
    return { analysis, settings, usage, habits, sourceProblems, open };
  };

  function latest(): Advice {
    if (!settings.enabled) return switchedOff;
    if (last === null) return noAdvice;
    const { recommendations, withheld } = lifecycle.latest();
    const { found } = last;
    return {
      recommendations,
      withheld: [...found.withheld, ...withheld],
      reducibleFragmentation: found.reducibleFragmentation,
      trackRecords: lifecycle.trackRecords(last.analysis.snapshot.at),
      search: { at: found.at, isGoingOn: found.isGoingOn, waiting: found.withdrawn.length },
    };
  }

  return {
    advise(analysis, sourceProblems = []) {
      if (!settings.enabled) return switchedOff;
      let isDone = false;
      try {
        usage = watchUsage(usage, analysis);
        habits = watchHabits(habits, analysis.snapshot, longestGapSeconds);
        const found = rounds.next(momentOf(analysis, sourceProblems));
        lifecycle.advance(found.offers, analysis, found.withheld, found);
        last = { analysis, sourceProblems, found };
        const advice = latest();
        withheldLog.note(advice.withheld, analysis.snapshot.at);
        isDone = true;
        return advice;
      } finally {
        // Advice that can no longer be worked out anew does not stay valid for ever.
        if (!isDone) lifecycle.lapse(analysis.snapshot.at);
      }
    },
    latest,
    dismiss: (id, by, reason, at) => lifecycle.dismiss(id, by, reason, at),
    take: (id, by, at) => lifecycle.take(id, by, at),
    receive(alerts, at) {
      lifecycle.link(alerts, at);
      if (last !== null && settings.enabled && alerts.some(({ status }) => status === "firing")) {
        const { analysis, sourceProblems } = last;
        const found = rounds.atOnce(momentOf(analysis, sourceProblems));
        last = { analysis, sourceProblems, found };
        lifecycle.advance(found.offers, analysis, found.withheld, found);
      }
      return latest();
    },
    takeChanges: () => lifecycle.takeChanges(),
    takeWithheld: () => withheldLog.takeChanges(),
    takeHabits() {
      const { known, changed } = habits;
      habits = { ...habits, changed: new Set() };
      return new Map([...changed].map((key) => [key, known.get(key) ?? null]));
    },
  };
}

/** What is shown while advice is switched off. */
const switchedOff: Advice = {
  ...noAdvice,
  withheld: adviceKinds.map((kind) => ({ kind, subject: "", why: "disabled", reason: "advice.enabled is false" })),
};

/** The advice of one moment alone, for a dump: nothing has to last before it is shown. */
export function adviseOnce(analysis: Analysis, settings: AdviceSettings, intervalSeconds: number): Advice {
  const work = analysis.blocked.work.map((one) => ({ ...one, isStanding: true }));
  const standing = { ...analysis, blocked: { ...analysis.blocked, work } };
  return createAdviser({ ...settings, standingCycles: 1 }, intervalSeconds).advise(standing);
}
