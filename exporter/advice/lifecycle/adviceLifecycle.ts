import type { Analysis } from "../../analysis/analysis.ts";
import type { AdviceTrackRecord } from "../../model/aftermath.ts";
import type { ReceivedAlert } from "../../model/receivedAlert.ts";
import type { AdviceState, LinkedAlert, Recommendation, WithheldAdvice } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import { servedBy } from "../identity.ts";
import type { AdviceSettings, OpenPlan } from "../moment.ts";
import { type MomentIndex, momentIndex } from "../momentIndex.ts";
import { byWorth, type Offer } from "../offer.ts";
import { createAlertLog, isSameAlert } from "./alertLog.ts";
import { createClosedAdvice, type HeldBack, restAfter, shownClosed } from "./closedAdvice.ts";
import { createTakenFollower } from "./followTaken.ts";
import { type LivingOffer, notEnded, recommendationOf, storedAdviceOf } from "./livingAdvice.ts";
import { createPlansInHand } from "./planInHand.ts";
import { seenWords, targetsLeft } from "./signs.ts";
import { livingOfferOf } from "./storedSchema.ts";
import { createTrackRecords } from "./trackRecord.ts";
import { dismissedBecause, takenBecause, whyGone, withheldOf } from "./whyGone.ts";

/** What one moment leaves to be seen. */
export interface LivingAdvice {
  /** Open ones, most worth first; then what closed lately, newest first. */
  readonly recommendations: readonly Recommendation[];
  /** Offers that are not shown yet or not again: `standing`, `cool-down`, `dismissed`. */
  readonly withheld: readonly WithheldAdvice[];
}

/** Follows every piece of advice from its first sight to its end. Times come in as arguments. */
export interface AdviceLifecycle {
  /** One more moment with its offers, in order of worth, and the reasons why others are not offered. */
  advance(offers: readonly Offer[], analysis: Analysis, reasons?: readonly WithheldAdvice[]): LivingAdvice;
  /** A moment whose offers are unknown: what is no longer valid expires. */
  lapse(at: number): void;
  /** Open advice, by id. */
  openPlans(): ReadonlyMap<string, OpenPlan>;
  /** What would be seen now without a new moment: after a dismissal or an alert. */
  latest(): LivingAdvice;
  /** How those that were shown turned out, by kind and act. */
  trackRecords(at: number): readonly AdviceTrackRecord[];
  /** Close open advice that a person does not want, or reports as done, to be measured from then on; `false`: none has that id. */
  dismiss(id: string, by: string, reason: string, at: number): boolean;
  take(id: string, by: string, at: number): boolean;
  /** Links alerts with the advice for their subjects; the same alert twice is one. */
  link(alerts: readonly ReceivedAlert[], at: number): void;
  /** What changed since it was last asked: what the ledger must keep. */
  takeChanges(): readonly StoredAdvice[];
}

/** Advice is valid for this many cycles after it was last worked out. */
const validCycles = 2;

/** The life of advice in a process that begins with what the ledger kept. */
export function createAdviceLifecycle(
  settings: AdviceSettings,
  intervalSeconds: number,
  stored: readonly StoredAdvice[],
): AdviceLifecycle {
  const known = stored.flatMap((one) => livingOfferOf(one) ?? []);
  const trackRecords = createTrackRecords(settings, known);
  /** By id. */
  const open = new Map<string, LivingOffer>();
  /** In how many cycles in a row there was an offer for a need. */
  let standing = new Map<string, number>();
  let withheld: readonly WithheldAdvice[] = [];
  let lastAt = Number.POSITIVE_INFINITY;
  const changed = new Set<LivingOffer>();
  const alertLog = createAlertLog();
  const inHand = createPlansInHand();
  const takenFollower = createTakenFollower(settings);
  const closed = createClosedAdvice(
    settings,
    known.filter(({ state }) => state !== "open"),
    takenFollower,
  );
  for (const living of known) {
    if (living.state !== "open") continue;
    open.set(living.offer.draft.id, living);
    standing.set(living.offer.need, settings.standingCycles);
  }

  function close(living: LivingOffer, state: AdviceState, because: string, at: number): void {
    living.state = state;
    living.closedAt = at;
    living.closedBecause = because;
    const { id } = living.offer.draft;
    open.delete(id);
    inHand.forget(id);
    closed.add(living, at);
    changed.add(living);
  }

  function closeOpen(id: string, state: AdviceState, because: string, at: number): boolean {
    const living = open.get(id);
    if (living !== undefined) close(living, state, because, at);
    return living !== undefined;
  }

  /** Closes advice whose place another took. */
  function replace(living: LivingOffer, by: LivingOffer, at: number): void {
    const { id } = living.offer.draft;
    living.replacedBy = by.offer.draft.id;
    by.replaces = [...by.replaces.filter((one) => one !== id), id];
    changed.add(by);
    close(living, "expired", `replaced by ${living.replacedBy}`, at);
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
    for (const living of closed.noteClock(at)) changed.add(living);
    inHand.noteClock(at);
  }

  function expireOld(at: number, end: (living: LivingOffer) => void): void {
    for (const living of [...open.values()]) {
      const isValid = at < living.validUntil && at >= living.computedAt;
      if (!isValid && !inHand.isBegun(living.offer.draft.id)) end(living);
    }
  }

  /** Closes what was not found again, with the reason that the moment gives, or with what is there in its place. */
  function endGone(living: LivingOffer, reasons: readonly WithheldAdvice[], moment: MomentIndex, at: number): void {
    const { draft } = living.offer;
    const rival = withheldOf(living, reasons)?.rival;
    const isInItsPlace = (one: LivingOffer): boolean =>
      one.offer.draft.id === rival ||
      (one.offer.draft.kind !== draft.kind &&
        one.openedAt > living.computedAt &&
        servedBy(one.offer.draft) === servedBy(draft));
    const by = [...open.values()].find((one) => one !== living && isInItsPlace(one));
    if (by !== undefined) replace(living, by, at);
    else close(living, "expired", `it was not found again: ${whyGone(living, reasons, moment)}`, at);
  }

  /** Advice whose signs are there was taken; what someone has just done is not advised again, whatever the offers say. */
  function noteTaken(moment: MomentIndex, at: number): void {
    for (const living of [...open.values()]) {
      const seen = inHand.look(living.offer, moment, at);
      if (living.parts?.done !== seen?.parts.done) changed.add(living);
      living.parts = seen?.parts ?? null;
      if (seen === null) continue;
      living.offer = seen.offer;
      if (!seen.isWhole && !seen.isLeft) continue;
      const { signs, draft } = living.offer;
      const { done, all } = seen.parts;
      const left = targetsLeft(signs, moment);
      living.rests = seen.isWhole ? null : draft.targets.filter((target) => !left.has(target));
      const because = seen.isWhole
        ? seenWords(signs)
        : `in part: ${done} of ${all} parts, and then nothing for ten minutes`;
      close(living, "taken", because, at);
      living.measured = takenFollower.begin(living.offer, moment, at);
    }
  }

  /** Why an offer is not shown; `null` where it may be. `instead`: ids of open advice that it excludes. */
  function holdBack(offer: Offer, instead: ReadonlySet<string>, at: number): HeldBack | null {
    const { draft, need } = offer;
    for (const one of closed.all) {
      const rest = restAfter(one, offer, settings, at);
      if (rest !== null) return rest;
    }
    const underWay = [...open.values()].find((one) => isInTheWay(one.offer, offer, instead));
    if (underWay !== undefined) return { why: "standing", reason: `${underWay.offer.draft.id} is being carried out` };
    const seen = standing.get(need) ?? 0;
    // The need for which it comes has lasted already.
    if (seen >= settings.standingCycles || instead.size > 0) return null;
    if (alertLog.firing().some((alert) => alertLog.isAbout(alert, draft))) return null;
    return { why: "standing", reason: `seen in ${seen} of ${settings.standingCycles} cycles in a row` };
  }

  /** Someone carries out a plan for the same need, or one that acts on the same. */
  function isInTheWay({ draft, need }: Offer, offer: Offer, instead: ReadonlySet<string>): boolean {
    const { id, targets } = offer.draft;
    if (draft.id === id || !inHand.isBegun(draft.id)) return false;
    return need === offer.need || instead.has(draft.id) || draft.targets.some((target) => targets.includes(target));
  }

  function show(offer: Offer, at: number): LivingOffer {
    const { id } = offer.draft;
    const validUntil = at + validCycles * intervalSeconds;
    const shown = open.get(id);
    if (shown !== undefined) {
      if (!inHand.isBegun(id)) renew(shown, offer, at);
      Object.assign(shown, { computedAt: at, validUntil });
      return shown;
    }
    const now = { offer, openedAt: at, computedAt: at, validUntil, state: "open" as const };
    const before = closed.takeBack(id, at);
    const living: LivingOffer =
      before === null
        ? { ...now, ...notEnded, firstSeenAt: at, openings: 1, replaces: [], alerts: [] }
        : Object.assign(before, now, notEnded, { openings: before.openings + 1 });
    open.set(id, living);
    changed.add(living);
    return living;
  }

  /** The plan for a need of now: targets, numbers and steps may be others. */
  function renew(living: LivingOffer, offer: Offer, at: number): void {
    const { title, targets } = living.offer.draft;
    const isOther = targets.join() !== offer.draft.targets.join();
    if (isOther) inHand.noteOld(living.offer, at);
    if (isOther || title !== offer.draft.title) changed.add(living);
    living.offer = offer;
  }

  /** Shows what may be shown, and records for the rest why not. */
  function showAll(offers: readonly Offer[], reasons: readonly WithheldAdvice[], at: number): WithheldAdvice[] {
    const rivals = [...open.values()].flatMap((living) => {
      const rival = withheldOf(living, reasons)?.rival;
      return rival === undefined ? [] : [{ living, rival }];
    });
    const allocated: WithheldAdvice[] = [];
    for (const offer of offers) {
      const { id, kind, title, beneficiary } = offer.draft;
      const instead = rivals.filter(({ rival }) => rival === id).map(({ living }) => living);
      // A plan from before needs made the ids has another for the same need.
      for (const one of open.values())
        if (one.offer.need === offer.need && one.offer.draft.id !== id) instead.push(one);
      const reason = holdBack(offer, new Set(instead.map((one) => one.offer.draft.id)), at);
      if (reason !== null)
        allocated.push({ kind, subject: beneficiary.name, why: reason.why, reason: `${title}: ${reason.reason}`, id });
      else {
        const shown = show(offer, at);
        for (const one of instead) replace(one, shown, at);
      }
    }
    return allocated;
  }

  function linkAlerts(): void {
    for (const living of open.values()) setAlerts(living, alertLog.about(living.offer.draft, living.firstSeenAt));
    // An alert is mostly over after its advice was taken.
    for (const living of closed.all) setAlerts(living, alertLog.asLastReported(living.alerts));
  }

  function setAlerts(living: LivingOffer, alerts: readonly LinkedAlert[]): void {
    if (alerts.length === living.alerts.length && alerts.every((alert, i) => isSameAlert(alert, living.alerts[i])))
      return;
    living.alerts = alerts;
    changed.add(living);
  }

  function latest(): LivingAdvice {
    const shown = [...open.values()].sort((a, b) => byWorth(a.offer, b.offer));
    return { recommendations: [...shown, ...closed.all.slice(0, shownClosed)].map(recommendationOf), withheld };
  }

  return {
    advance(offers, analysis, reasons = []) {
      const { at } = analysis.snapshot;
      const moment = momentIndex(analysis);
      noteBegin(at);
      noteClock(at);
      // Who cannot read the objects sees neither that pods have left, nor what is allocated.
      if (analysis.snapshot.coverage.objects) {
        noteTaken(moment, at);
        for (const living of closed.measure(moment, at)) changed.add(living);
        for (const living of trackRecords.follow([...open.values(), ...closed.all], moment, at)) changed.add(living);
      }
      // The same moment looked at twice is one cycle.
      const more = at === lastAt ? 0 : 1;
      lastAt = at;
      standing = new Map(offers.map(({ need }) => [need, Math.max(1, (standing.get(need) ?? 0) + more)]));
      withheld = showAll(offers, reasons, at);
      expireOld(at, (living) => endGone(living, reasons, moment, at));
      alertLog.forgetOld(at);
      linkAlerts();
      return latest();
    },
    lapse: (at) => expireOld(at, (living) => close(living, "expired", "it could not be worked out again", at)),
    latest,
    openPlans: () => new Map([...open].map(([id, { offer }]) => [id, offer.draft])),
    trackRecords: (at) => trackRecords.at(at),
    dismiss: (id, by, reason, at) => closeOpen(id, "dismissed", dismissedBecause(by, reason), at),
    take: (id, by, at) => closeOpen(id, "taken", takenBecause(by), at),
    link(alerts, at) {
      alertLog.receive(alerts, at);
      linkAlerts();
    },
    takeChanges() {
      const all = [...changed].map(storedAdviceOf);
      changed.clear();
      return all;
    },
  };
}
