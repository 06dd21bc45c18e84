import type { WithheldReason } from "../../model/recommendation.ts";
import type { AdviceSettings } from "../moment.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { Offer } from "../offer.ts";
import type { TakenFollower } from "./followTaken.ts";
import { type LivingOffer, secondsPerDay } from "./livingAdvice.ts";
import { partsDone } from "./signs.ts";
import { isFollowed } from "./trackRecord.ts";

/** Closed advice, the newest first: what is still shown, or still decides what is shown. */
export interface ClosedAdvice {
  readonly all: readonly LivingOffer[];
  add(living: LivingOffer, at: number): void;
  /**
   * Takes out the record of a need that only went away for a while: advice that expired less than a day ago, if nothing else
   * has happened to that need since. A need that comes back on the same day keeps one record instead of getting one for each
   * time.
   */
  takeBack(id: string, at: number): LivingOffer | null;
  /**
   * Measures taken advice, and looks for what undoes it, until its horizon is over. Advice that a person reports as done is
   * measured from the first moment after the report; how much of it the cluster shows is noted. Returns what changed.
   */
  measure(moment: MomentIndex, at: number): readonly LivingOffer[];
  /** After a clock was set back: moves closing times that are in the future to now. Returns what changed. */
  noteClock(at: number): readonly LivingOffer[];
}

/** The most closed advice that is shown. */
export const shownClosed = 100;
/** The most closed advice that is kept, because it may come back, or must not come back yet. */
const keptClosed = 1000;
/** For how long expired advice may be opened again, seconds. */
const reopenSeconds = secondsPerDay;

/** Makes the closed advice with which a process begins. */
export function createClosedAdvice(
  settings: AdviceSettings,
  stored: readonly LivingOffer[],
  follower: TakenFollower,
): ClosedAdvice {
  let all = stored.toSorted((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0));
  const coolDownSeconds = settings.coolDownMinutes * 60;
  const horizonSeconds = settings.horizonHours * 3600;

  /** Whether the outcome of closed advice still decides what is shown, or is still measured. */
  function isHeeded(living: LivingOffer, at: number): boolean {
    const { state, closedAt, measured } = living;
    if (closedAt === null) return false;
    if (isFollowed(living)) return true;
    const age = at - closedAt;
    if (state === "expired") return age < reopenSeconds;
    const seconds = state === "dismissed" ? settings.dismissedDays * secondsPerDay : horizonSeconds;
    return age < Math.max(seconds, coolDownSeconds) || measured?.isFinal === false;
  }

  function begin(living: LivingOffer, closedAt: number, moment: MomentIndex, at: number): boolean {
    // A moment from before the closing does not show it, and what is much later cannot be due to it.
    if (at < closedAt || at - closedAt > horizonSeconds) return false;
    living.measured = follower.begin(living.offer, moment, at);
    noteParts(living, moment);
    return true;
  }

  return {
    get all() {
      return all;
    },
    add(living, at) {
      all = [living, ...all].filter((one, i) => i < shownClosed || (i < keptClosed && isHeeded(one, at)));
    },
    takeBack(id, at) {
      const last = all.find(({ offer }) => offer.draft.id === id);
      if (last === undefined || last.state !== "expired" || at - (last.closedAt ?? at) >= reopenSeconds) return null;
      all = all.filter((one) => one !== last);
      return last;
    },
    measure(moment, at) {
      return all.filter((living) => {
        const { offer, measured, closedAt } = living;
        if (living.state !== "taken" || closedAt === null || closedAt === at) return false;
        if (measured === null) return begin(living, closedAt, moment, at);
        const isUnderWay = isNotAllSeen(living);
        const now = follower.goOn(offer, closedAt, measured, moment, at, isUnderWay);
        living.measured = now;
        const isMoreSeen = isUnderWay && at - closedAt <= horizonSeconds && noteParts(living, moment);
        const { gainedGpus, lostGpuHours, isFinal, undone } = measured;
        const isSame = now.gainedGpus === gainedGpus && now.lostGpuHours === lostGpuHours && now.undone === undone;
        return !isSame || now.isFinal !== isFinal || isMoreSeen;
      });
    },
    noteClock(at) {
      const later = all.filter(({ closedAt }) => closedAt !== null && closedAt > at);
      for (const living of later) living.closedAt = at;
      return later;
    },
  };
}

/**
 * Whether a person reported a plan as done before the cluster showed all of its parts. A plan that was taken in part is
 * complete.
 */
const isNotAllSeen = ({ parts, rests }: LivingOffer): boolean =>
  rests === null && (parts === null || parts.done < parts.all);

/** Notes how many parts of a plan the cluster shows. Returns whether these are more than before. */
function noteParts(living: LivingOffer, moment: MomentIndex): boolean {
  const seen = partsDone(living.offer.signs, moment);
  if (seen === null || seen.done <= (living.parts?.done ?? 0)) return false;
  living.parts = seen;
  return true;
}

/** Why an offer is not shown now. */
export interface HeldBack {
  readonly why: WithheldReason;
  readonly reason: string;
}

/** How long a person who has begun a plan may take to finish it, seconds; after that it counts as taken in part. */
export const settleSeconds = 600;

/** Dismissed advice comes back before its time if its gain has become more than this many times as large. */
const muchMore = 2;

/**
 * Why an offer must wait after other advice was taken or dismissed: dismissed advice stays away for `dismissedDays`, unless its
 * gain is much larger by now; if someone has just served a need, the effect must show first; and targets rest for the
 * cool-down. If a plan was taken in part, only the targets of that part rest. `null` if nothing holds the offer back. `at`:
 * seconds since the epoch.
 */
export function restAfter(
  { state, closedAt, closedBecause, offer: other, rests }: LivingOffer,
  offer: Offer,
  { dismissedDays, coolDownMinutes }: AdviceSettings,
  at: number,
): HeldBack | null {
  if (closedAt === null || state === "expired") return null;
  const { targets, effect } = offer.draft;
  const isSameNeed = other.need === offer.need;
  const gpus = other.draft.effect.gainedGpus.worst;
  const age = at - closedAt;
  const isMuchMore = effect.gainedGpus.worst > muchMore * gpus;
  if (state === "dismissed" && isSameNeed && !isMuchMore && age < dismissedDays * secondsPerDay)
    return { why: "dismissed", reason: `dismissed: ${closedBecause}` };
  if (state === "taken" && isSameNeed && rests === null && age < settleSeconds)
    return { why: "cool-down", reason: `${other.draft.id} was taken for it just now: first its effect must show` };
  const coolDownSeconds = coolDownMinutes * 60;
  if (age >= coolDownSeconds || !(rests ?? other.draft.targets).some((target) => targets.includes(target))) return null;
  const minutes = Math.ceil((coolDownSeconds - age) / 60);
  return { why: "cool-down", reason: `advice for the same was ${state}; its targets rest for ${minutes} min more` };
}
