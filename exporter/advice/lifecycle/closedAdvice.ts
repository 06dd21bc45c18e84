import type { AdviceSettings } from "../adviceSettings.ts";
import { isFollowed } from "./aftermath.ts";
import type { TakenFollower } from "./followTaken.ts";
import type { LivingOffer } from "./livingAdvice.ts";
import type { MomentIndex } from "./momentIndex.ts";
import { secondsPerDay } from "./restAfter.ts";

/** Advice that closed, the newest first: what is still shown, or still decides what is. */
export interface ClosedAdvice {
  readonly all: readonly LivingOffer[];
  add(living: LivingOffer, at: number): void;
  /**
   * Takes out the record of a need that only went away for a while: what expired less than a day ago, if nothing else became
   * of that need since. Who needs again what he needed this morning finds the same record, and not one for each time.
   */
  takeBack(id: string, at: number): LivingOffer | null;
  /** Measures what was taken, and sees what undoes it, until its horizon is over. Returns what changed. */
  measure(moment: MomentIndex, at: number): readonly LivingOffer[];
  /** After a clock was set back, what closed later closed now. Returns what changed. */
  noteClock(at: number): readonly LivingOffer[];
}

/** Closed advice that is shown at most. */
export const shownClosed = 100;
/** Closed advice that is kept at most, because it may come back, or must not yet. */
const keptClosed = 1000;
/** What expired may be opened again for so long, seconds. */
const reopenSeconds = secondsPerDay;

/** The closed advice that a process begins with. */
export function createClosedAdvice(
  settings: AdviceSettings,
  stored: readonly LivingOffer[],
  follower: TakenFollower,
): ClosedAdvice {
  let all = stored.toSorted((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0));
  const coolDownSeconds = settings.coolDownMinutes * 60;

  /** Whether what became of it still decides what is shown, or is still measured. */
  function isHeeded(living: LivingOffer, at: number): boolean {
    const { state, closedAt, measured } = living;
    if (closedAt === null) return false;
    if (isFollowed(living)) return true;
    const age = at - closedAt;
    if (state === "expired") return age < reopenSeconds;
    const seconds = state === "dismissed" ? settings.dismissedDays * secondsPerDay : settings.horizonHours * 3600;
    return age < Math.max(seconds, coolDownSeconds) || measured?.isFinal === false;
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
        const { measured, closedAt } = living;
        if (living.state !== "taken" || measured === null || closedAt === null || closedAt === at) return false;
        const now = follower.goOn(living.offer, closedAt, measured, moment, at);
        living.measured = now;
        const { gainedGpus, lostGpuHours, isFinal, undone } = measured;
        const isSame = now.gainedGpus === gainedGpus && now.lostGpuHours === lostGpuHours && now.undone === undone;
        return !isSame || now.isFinal !== isFinal;
      });
    },
    noteClock(at) {
      const later = all.filter(({ closedAt }) => closedAt !== null && closedAt > at);
      for (const living of later) living.closedAt = at;
      return later;
    },
  };
}
