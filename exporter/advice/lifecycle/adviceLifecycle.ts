import type { AdviceState, LinkedAlert, WithheldAdvice } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import { servedBy } from "../identity.ts";
import type { AdviceSettings } from "../moment.ts";
import { type MomentIndex, momentIndex } from "../momentIndex.ts";
import { byWorth, type Offer } from "../offer.ts";
import { createAlertLog, isSameAlert } from "./alertLog.ts";
import { createClosedAdvice, type HeldBack, restAfter, shownClosed } from "./closedAdvice.ts";
import { createTakenFollower } from "./followTaken.ts";
import type { AdviceLifecycle, LivingAdvice, SearchOfOffers } from "./lifecycleContract.ts";
import { type LivingOffer, notEnded, recommendationOf, storedAdviceOf } from "./livingAdvice.ts";
import { createPlansInHand } from "./planInHand.ts";
import { seenWords, targetsLeft } from "./signs.ts";
import { livingOfferOf } from "./storedSchema.ts";
import { createTrackRecords } from "./trackRecord.ts";
import { dismissedBecause, takenBecause, whyGone, withheldOf } from "./whyGone.ts";

/** Advice is valid for this many cycles after it was last worked out. */
const validCycles = 2;

/** Makes the lifecycle of advice for a process that begins with what the ledger has stored. */
export function createAdviceLifecycle(
  settings: AdviceSettings,
  intervalSeconds: number,
  stored: readonly StoredAdvice[],
): AdviceLifecycle {
  const known = stored.flatMap((one) => livingOfferOf(one) ?? []);
  const trackRecords = createTrackRecords(settings, known);
  /** Open advice by id. */
  const open = new Map<string, LivingOffer>();
  /** By need: in how many searches in a row there was an offer. */
  let standing = new Map<string, number>();
  let withheld: readonly WithheldAdvice[] = [];
  let lastAt = Number.POSITIVE_INFINITY;
  /** The cycles since the last search ended. */
  let unsearched = 0;
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

  /** Closes advice that other advice replaces. */
  function replace(living: LivingOffer, by: LivingOffer, at: number): void {
    const { id } = living.offer.draft;
    living.replacedBy = by.offer.draft.id;
    by.replaces = [...by.replaces.filter((one) => one !== id), id];
    changed.add(by);
    close(living, "expired", `replaced by ${living.replacedBy}`, at);
  }

  /** Keeps stored advice valid for some cycles after a start: it may be found again once everything has been read. */
  function noteBegin(at: number): void {
    if (lastAt !== Number.POSITIVE_INFINITY) return;
    for (const living of open.values()) {
      living.computedAt = Math.min(living.computedAt, at);
      living.validUntil = at + validCycles * intervalSeconds;
    }
  }

  /** If a clock was set back, past times are in the future: they count as now. */
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

  /** Closes advice that was not found again, with the reason of the moment or because of what is there in its place. */
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

  /** Closes advice whose plan holds no more, unless a person carries it out: nothing is shown that is out of date. */
  function endWithdrawn(withdrawn: SearchOfOffers["withdrawn"], at: number): void {
    for (const { offer, because } of withdrawn) {
      const living = open.get(offer.draft.id);
      if (living !== undefined && !inHand.isBegun(offer.draft.id))
        close(living, "expired", `withdrawn: ${because}`, at);
    }
  }

  /** Closes advice as taken if all of its signs are there: what was just done is not advised again, whatever the offers are. */
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

  /** Why an offer is not shown; `null` if it may be shown. `instead`: ids of open advice that it excludes. */
  function holdBack(offer: Offer, instead: ReadonlySet<string>, at: number): HeldBack | null {
    const { draft, need } = offer;
    for (const one of closed.all) {
      const rest = restAfter(one, offer, settings, at);
      if (rest !== null) return rest;
    }
    const underWay = [...open.values()].find((one) => isInTheWay(one.offer, offer, instead));
    if (underWay !== undefined) return { why: "standing", reason: `${underWay.offer.draft.id} is being carried out` };
    const seen = standing.get(need) ?? 0;
    // The need that this offer serves has lasted long enough.
    if (seen >= settings.standingCycles || instead.size > 0) return null;
    if (alertLog.firing().some((alert) => alertLog.isAbout(alert, draft))) return null;
    return { why: "standing", reason: `seen in ${seen} of ${settings.standingCycles} cycles in a row` };
  }

  /** Whether a person carries out the first plan, and it serves the same need or acts on the same as the other. */
  function isInTheWay({ draft, need }: Offer, offer: Offer, instead: ReadonlySet<string>): boolean {
    const { id, targets } = offer.draft;
    if (draft.id === id || !inHand.isBegun(draft.id)) return false;
    return need === offer.need || instead.has(draft.id) || draft.targets.some((target) => targets.includes(target));
  }

  /** Shows an offer that holds now (`at`), and that a search has worked out for the moment `computedAt`. */
  function show(offer: Offer, at: number, computedAt: number): LivingOffer {
    const { id } = offer.draft;
    const validUntil = at + validCycles * intervalSeconds;
    const shown = open.get(id);
    if (shown !== undefined) {
      if (!inHand.isBegun(id)) renew(shown, offer, at);
      Object.assign(shown, { computedAt, validUntil });
      return shown;
    }
    const now = { offer, openedAt: at, computedAt, validUntil, state: "open" as const };
    const before = closed.takeBack(id, at);
    const living: LivingOffer =
      before === null
        ? { ...now, ...notEnded, firstSeenAt: at, openings: 1, replaces: [], alerts: [] }
        : Object.assign(before, now, notEnded, { openings: before.openings + 1 });
    open.set(id, living);
    changed.add(living);
    return living;
  }

  /** Updates the plan for a need that is shown already: targets, numbers and steps may be different now. */
  function renew(living: LivingOffer, offer: Offer, at: number): void {
    const { title, targets } = living.offer.draft;
    const isOther = targets.join() !== offer.draft.targets.join();
    if (isOther) inHand.noteOld(living.offer, at);
    if (isOther || title !== offer.draft.title) changed.add(living);
    living.offer = offer;
  }

  /** Shows what may be shown, and records for the other offers why they are not shown. */
  function showAll(
    offers: readonly Offer[],
    reasons: readonly WithheldAdvice[],
    at: number,
    computedAt: number,
  ): WithheldAdvice[] {
    const rivals = [...open.values()].flatMap((living) => {
      const rival = withheldOf(living, reasons)?.rival;
      return rival === undefined ? [] : [{ living, rival }];
    });
    const allocated: WithheldAdvice[] = [];
    for (const offer of offers) {
      const { id, kind, title, beneficiary } = offer.draft;
      const instead = rivals.filter(({ rival }) => rival === id).map(({ living }) => living);
      // Advice from before ids followed from needs may have the same need as this offer.
      for (const one of open.values())
        if (one.offer.need === offer.need && one.offer.draft.id !== id) instead.push(one);
      const reason = holdBack(offer, new Set(instead.map((one) => one.offer.draft.id)), at);
      if (reason !== null)
        allocated.push({ kind, subject: beneficiary.name, why: reason.why, reason: `${title}: ${reason.reason}`, id });
      else {
        const shown = show(offer, at, computedAt);
        for (const one of instead) replace(one, shown, at);
      }
    }
    return allocated;
  }

  function linkAlerts(): void {
    for (const living of open.values()) setAlerts(living, alertLog.about(living.offer.draft, living.firstSeenAt));
    // In most cases an alert is over only after its advice was taken.
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
    advance(offers, analysis, reasons = [], search = undefined) {
      const { at } = analysis.snapshot;
      const { withdrawn, isNew, at: computedAt } = search ?? { withdrawn: [], isNew: true, at };
      const moment = momentIndex(analysis);
      noteBegin(at);
      noteClock(at);
      // Without access to the objects, it cannot be seen that pods have left, nor what is allocated.
      if (analysis.snapshot.coverage.objects) {
        noteTaken(moment, at);
        for (const living of closed.measure(moment, at)) changed.add(living);
        for (const living of trackRecords.follow([...open.values(), ...closed.all], moment, at)) changed.add(living);
      }
      // If the same moment comes twice, it is one cycle. A need that was not searched was neither found nor lost, and one that
      // two searches in a row have found has lasted for the cycles between them.
      if (at !== lastAt) unsearched += 1;
      const more = isNew ? unsearched : 0;
      if (isNew) unsearched = 0;
      lastAt = at;
      const lasted = (need: string): number => {
        const before = standing.get(need);
        return before === undefined ? 1 : before + more;
      };
      endWithdrawn(withdrawn, at);
      standing = new Map([
        ...withdrawn.map(({ offer: { need } }) => [need, lasted(need)] as const),
        ...offers.map(({ need }) => [need, lasted(need)] as const),
      ]);
      withheld = showAll(offers, reasons, at, computedAt);
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
