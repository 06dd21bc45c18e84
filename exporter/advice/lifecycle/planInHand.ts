import type { Recommendation } from "../../model/recommendation.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { Offer } from "../offer.ts";
import { settleSeconds } from "./closedAdvice.ts";
import { isTaken, partsDone } from "./signs.ts";

/** A plan that a person has begun to carry out. */
interface Begun {
  readonly done: number;
  /** When the last of the done parts was first seen, seconds since the epoch. */
  at: number;
}

/** What a look at open advice finds. */
export interface Seen {
  /** The plan that is being carried out: the one that is shown, or one that was shown shortly before. */
  readonly offer: Offer;
  readonly parts: NonNullable<Recommendation["parts"]>;
  readonly isWhole: boolean;
  /** Whether some parts are done, and no more were done for a while. */
  readonly isLeft: boolean;
}

/**
 * Follows which plans people carry out. A plan changes while it is open, and a person who read it a while ago does what it
 * contained then.
 */
export interface PlansInHand {
  /** Notes that this plan is no longer the one that is shown. */
  noteOld(offer: Offer, at: number): void;
  /** What is done of the plan with this id, or of one that was shown for it shortly before; `null`: nothing is done. */
  look(offer: Offer, moment: MomentIndex, at: number): Seen | null;
  isBegun(id: string): boolean;
  forget(id: string): void;
  /** After a clock was set back: moves times that are in the future to now. */
  noteClock(at: number): void;
}

/** For how long a plan that was shown may have been read and be carried out, seconds. */
const readSeconds = 1800;
/** The most earlier plans that are kept for each need. */
const mostEarlier = 10;

/** Makes a follower for which nobody has begun anything yet. */
export function createPlansInHand(): PlansInHand {
  const begun = new Map<string, Begun>();
  const earlier = new Map<string, readonly { readonly offer: Offer; readonly until: number }[]>();

  function begunPlan(offer: Offer, moment: MomentIndex, at: number): Offer | null {
    const known = [offer];
    // A person who has begun a plan goes on with that plan.
    if (!begun.has(offer.draft.id))
      for (const one of earlier.get(offer.draft.id) ?? []) if (one.until >= at) known.push(one.offer);
    return (
      known.find(({ signs }) => isTaken(signs, moment)) ??
      known.find(({ signs }) => partsDone(signs, moment) !== null) ??
      null
    );
  }

  return {
    noteOld(offer, at) {
      const { id } = offer.draft;
      const known = (earlier.get(id) ?? []).filter(({ until }) => until >= at);
      earlier.set(id, [{ offer, until: at + readSeconds }, ...known].slice(0, mostEarlier));
    },
    look(shown, moment, at) {
      const offer = begunPlan(shown, moment, at);
      const parts = offer === null ? null : partsDone(offer.signs, moment);
      const { id } = shown.draft;
      if (offer === null || parts === null) {
        // Everything that was done was undone.
        begun.delete(id);
        return null;
      }
      let known = begun.get(id);
      if (known === undefined || parts.done > known.done) {
        known = { done: parts.done, at };
        begun.set(id, known);
      }
      const isWhole = isTaken(offer.signs, moment);
      return { offer, parts, isWhole, isLeft: at - known.at >= settleSeconds };
    },
    isBegun: (id) => begun.has(id),
    forget(id) {
      begun.delete(id);
      earlier.delete(id);
    },
    noteClock(at) {
      for (const one of begun.values()) one.at = Math.min(one.at, at);
    },
  };
}
