import type { Recommendation } from "../../model/recommendation.ts";
import type { MomentIndex } from "../momentIndex.ts";
import type { Offer } from "../offer.ts";
import { settleSeconds } from "./closedAdvice.ts";
import { isTaken, partsDone } from "./signs.ts";

/** A plan that someone has begun with. */
interface Begun {
  readonly done: number;
  /** When the last of these parts was seen to be done, seconds since the epoch. */
  at: number;
}

/** What a look at open advice shows. */
export interface Seen {
  /** The plan that is being carried out: the one that is shown, or one that was shown shortly before. */
  readonly offer: Offer;
  readonly parts: NonNullable<Recommendation["parts"]>;
  readonly isWhole: boolean;
  /** Parts are done, and for a while no more were. */
  readonly isLeft: boolean;
}

/** Which plans people carry out. A plan changes while it is open; who read it a while ago does what it said then. */
export interface PlansInHand {
  /** Notes that this plan is no longer the one that is shown. */
  noteOld(offer: Offer, at: number): void;
  /** Whether the plan of this id, or one that was shown shortly before, was begun with; `null`: nobody did anything. */
  look(offer: Offer, moment: MomentIndex, at: number): Seen | null;
  isBegun(id: string): boolean;
  forget(id: string): void;
  /** After a clock was set back, what was seen later was seen now. */
  noteClock(at: number): void;
}

/** What was shown may have been read, and be carried out, for so long, seconds. */
const readSeconds = 1800;
/** Earlier plans of each need that are kept at most. */
const mostEarlier = 10;

/** Nobody has begun with anything yet. */
export function createPlansInHand(): PlansInHand {
  const begun = new Map<string, Begun>();
  const earlier = new Map<string, readonly { readonly offer: Offer; readonly until: number }[]>();

  function begunPlan(offer: Offer, moment: MomentIndex, at: number): Offer | null {
    const known = [offer];
    // Who has begun goes on with what he began with.
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
        // What was done was undone.
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
