import type { Analysis } from "../../analysis/analysis.ts";
import type { ReceivedAlert } from "../../model/receivedAlert.ts";
import type { AdviceState, LinkedAlert, Recommendation, WithheldAdvice } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import type { AdviceSettings } from "../adviceSettings.ts";
import { byWorth, type Offer } from "../offer.ts";
import { createAlertLog } from "./alertLog.ts";
import { type LivingOffer, recommendationOf, storedAdviceOf } from "./livingAdvice.ts";
import { measuredGpus, measuredLoss } from "./measure.ts";
import { type HeldBack, restAfter, secondsPerDay, settleSeconds } from "./restAfter.ts";
import { createSight, type Sight } from "./sight.ts";
import { isBegun, isTaken, seenWords } from "./signs.ts";
import { livingOfferOf } from "./storedSchema.ts";

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
  /** A moment of which nobody could say what it offers: what is no longer valid expires. */
  lapse(at: number): void;
  /** Ids of open advice. */
  openIds(): ReadonlySet<string>;
  /** What would be seen now without a new moment: after a dismissal or an alert. */
  latest(): LivingAdvice;
  /** Closes open advice; `false` where there is none of that id. */
  dismiss(id: string, by: string, reason: string, at: number): boolean;
  /** Links alerts with the advice for their subjects; the same alert twice is one. */
  link(alerts: readonly ReceivedAlert[], at: number): void;
  /** What changed since it was last asked: what the ledger must keep. */
  takeChanges(): readonly StoredAdvice[];
}

/** Advice is valid for so many cycles after it was last worked out. */
const validCycles = 2;
/** Closed advice that faces still show. */
const shownClosed = 100;
/** Closed advice that is kept at most, because its targets rest or it must not come back yet. */
const keptClosed = 1000;
const longestText = 500;

/** The life of advice in a process that begins with what the ledger kept. */
export function createAdviceLife(
  settings: AdviceSettings,
  intervalSeconds: number,
  stored: readonly StoredAdvice[],
): AdviceLife {
  /** By id. */
  const open = new Map<string, LivingOffer>();
  let closed: LivingOffer[] = [];
  /** In how many cycles in a row there was an offer for a need. */
  let standing = new Map<string, number>();
  let withheld: readonly WithheldAdvice[] = [];
  let lastAt = Number.POSITIVE_INFINITY;
  const changed = new Set<LivingOffer>();
  const alertLog = createAlertLog();
  /** When the first part of open advice was seen to be done, by id. */
  const begun = new Map<string, number>();
  const coolDownSeconds = settings.coolDownMinutes * 60;

  for (const living of stored.flatMap((one) => livingOfferOf(one) ?? [])) {
    if (living.state !== "open") closed.push(living);
    else {
      open.set(living.offer.draft.id, living);
      standing.set(living.offer.need, settings.standingCycles);
    }
  }
  closed.sort(newestFirst);

  function close(living: LivingOffer, state: AdviceState, because: string, at: number): void {
    living.state = state;
    living.closedAt = at;
    living.closedBecause = because;
    open.delete(living.offer.draft.id);
    begun.delete(living.offer.draft.id);
    closed = [living, ...closed]
      .filter((one, i) => i < shownClosed || (i < keptClosed && isStillHeeded(one, at)))
      .slice(0, keptClosed);
    changed.add(living);
  }

  /** Whether what became of it still decides what is shown, or is still measured. */
  function isStillHeeded({ state, closedAt, measured }: LivingOffer, at: number): boolean {
    if (state === "expired" || closedAt === null) return false;
    const seconds = state === "dismissed" ? settings.dismissedDays * secondsPerDay : coolDownSeconds;
    return at - closedAt < Math.max(seconds, coolDownSeconds) || measured?.isFinal === false;
  }

  /** What a process begins with may be found again, as soon as all has been read and seen once. */
  function noteBegin(at: number): void {
    if (lastAt !== Number.POSITIVE_INFINITY) return;
    for (const living of open.values()) {
      living.computedAt = Math.min(living.computedAt, at);
      living.validUntil = at + validCycles * intervalSeconds;
    }
  }

  /** A clock that was set back makes times to come of those that were: they count as now. */
  function noteClock(at: number): void {
    if (at >= lastAt) return;
    for (const living of closed) {
      if ((living.closedAt ?? at) <= at) continue;
      living.closedAt = at;
      changed.add(living);
    }
    for (const [id, since] of begun) begun.set(id, Math.min(since, at));
  }

  function expireOld(at: number, because: string): void {
    for (const living of [...open.values()]) {
      const isValid = at < living.validUntil && at >= living.computedAt;
      if (!isValid && !begun.has(living.offer.draft.id)) close(living, "expired", because, at);
    }
  }

  /** Advice whose signs are there was taken; what somebody has just done is not advised again, whatever the offers say. */
  function noteTaken(sight: Sight, at: number): void {
    for (const living of [...open.values()]) {
      const { draft, signs, disrupted, measuredBy } = living.offer;
      const isWhole = isTaken(signs, sight);
      if (!isWhole) {
        if (!begun.has(draft.id) && isBegun(signs, sight)) begun.set(draft.id, at);
        if (at - (begun.get(draft.id) ?? at) < settleSeconds) continue;
      }
      close(living, "taken", isWhole ? seenWords(signs) : "in part, and then nothing for ten minutes", at);
      const lostGpuHours = measuredLoss(disrupted, sight, at, settings.restartMinutes);
      living.measured = { gainedGpus: measuredGpus(measuredBy, sight), lostGpuHours, at, isFinal: false };
    }
  }

  /** What was taken is measured until its cool-down is over: by then whatever starts has started. */
  function measureTaken(sight: Sight, at: number): void {
    for (const living of closed) {
      const { measured, closedAt } = living;
      if (living.state !== "taken" || measured === null || measured.isFinal || closedAt === at) continue;
      const isFinal = closedAt === null || at - closedAt >= coolDownSeconds;
      living.measured = { ...measured, gainedGpus: measuredGpus(living.offer.measuredBy, sight), at, isFinal };
      if (isFinal || living.measured.gainedGpus !== measured.gainedGpus) changed.add(living);
    }
  }

  /** Why an offer is not shown; `null` where it may be. */
  function holdBack(offer: Offer, at: number): HeldBack | null {
    const { draft, need } = offer;
    for (const one of closed) {
      const rest = restAfter(one, offer, settings, at);
      if (rest !== null) return rest;
    }
    const underWay = [...open.values()].find((one) => one.offer.need === need && begun.has(one.offer.draft.id));
    if (underWay !== undefined && underWay.offer.draft.id !== draft.id)
      return { why: "standing", reason: `${underWay.offer.draft.id} is being carried out` };
    const seen = standing.get(need) ?? 0;
    if (seen >= settings.standingCycles || alertLog.firing().some((alert) => alertLog.isAbout(alert, draft)))
      return null;
    return { why: "standing", reason: `seen in ${seen} of ${settings.standingCycles} cycles in a row` };
  }

  function show(offer: Offer, at: number): void {
    const { id } = offer.draft;
    const validUntil = at + validCycles * intervalSeconds;
    const known = open.get(id);
    // A title says how many GPUs are planned, and stays: another number is another life.
    const isSame = known !== undefined && plannedGpus(known.offer) === plannedGpus(offer);
    if (known !== undefined && !isSame && !begun.has(id))
      close(known, "expired", `it is about ${plannedGpus(offer)} GPUs now`, at);
    else if (known !== undefined) {
      known.offer = offer;
      known.computedAt = at;
      known.validUntil = validUntil;
      return;
    }
    for (const living of [...open.values()])
      if (living.offer.need === offer.need) close(living, "expired", `${id} is better now`, at);
    const living: LivingOffer = {
      ...{ offer, title: offer.draft.title, firstSeenAt: at, computedAt: at, validUntil },
      ...{ state: "open", closedAt: null, closedBecause: null, measured: null, alerts: [] },
    };
    open.set(id, living);
    changed.add(living);
  }

  function linkAlerts(): void {
    for (const living of open.values()) setAlerts(living, alertLog.about(living.offer.draft, living.firstSeenAt));
    // An alert is mostly over after its advice was taken.
    for (const living of closed) setAlerts(living, alertLog.asLastTold(living.alerts));
  }

  function setAlerts(living: LivingOffer, alerts: readonly LinkedAlert[]): void {
    if (alerts.length === living.alerts.length && alerts.every((alert, i) => isSame(alert, living.alerts[i]))) return;
    living.alerts = alerts;
    changed.add(living);
  }

  function latest(): LivingAdvice {
    const shown = [...open.values()].sort((a, b) => byWorth(a.offer, b.offer));
    return { recommendations: [...shown, ...closed.slice(0, shownClosed)].map(recommendationOf), withheld };
  }

  return {
    advance(offers, analysis) {
      const { at } = analysis.snapshot;
      const sight = createSight(analysis);
      noteBegin(at);
      noteClock(at);
      // Who cannot read the objects sees neither that pods have left, nor what is held.
      for (const look of analysis.snapshot.coverage.objects ? [noteTaken, measureTaken] : []) look(sight, at);
      // The same moment looked at twice is one cycle.
      const more = at === lastAt ? 0 : 1;
      lastAt = at;
      standing = new Map(offers.map(({ need }) => [need, Math.max(1, (standing.get(need) ?? 0) + more)]));
      const held: WithheldAdvice[] = [];
      for (const offer of offers) {
        const reason = holdBack(offer, at);
        if (reason === null) show(offer, at);
        else {
          const { kind, title, beneficiary } = offer.draft;
          held.push({ kind, subject: beneficiary.name, why: reason.why, reason: `${title}: ${reason.reason}` });
        }
      }
      expireOld(
        at,
        "it was not found again: it would gain too little now, cannot be done any more, or is not known any more",
      );
      alertLog.forgetOld(at);
      linkAlerts();
      withheld = held;
      return latest();
    },
    lapse: (at) => expireOld(at, "it could not be worked out again"),
    latest,
    openIds: () => new Set(open.keys()),
    dismiss(id, by, reason, at) {
      const living = open.get(id);
      if (living === undefined) return false;
      close(living, "dismissed", `${by.slice(0, longestText)}: ${reason.slice(0, longestText)}`, at);
      return true;
    },
    link(alerts, at) {
      alertLog.hear(alerts, at);
      linkAlerts();
    },
    takeChanges() {
      const all = [...changed].map(storedAdviceOf);
      changed.clear();
      return all;
    },
  };
}

/** As a title has it. */
const plannedGpus = ({ draft }: Offer): number => Math.round(draft.effect.gainedGpus.worst);

const newestFirst = (a: LivingOffer, b: LivingOffer): number => (b.closedAt ?? 0) - (a.closedAt ?? 0);

function isSame(one: LivingOffer["alerts"][number], other: LivingOffer["alerts"][number] | undefined): boolean {
  return one.fingerprint === other?.fingerprint && one.startsAt === other.startsAt && one.status === other.status;
}
