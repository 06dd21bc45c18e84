// Needed for the goal `advice-contended` (docs/performance.md).

import type { WithheldAdvice } from "../../model/recommendation.ts";
import { type OffersFound, offersInPieces } from "../findOffers.ts";
import type { AdviceMoment } from "../moment.ts";
import type { Offer } from "../offer.ts";
import { turnsOf } from "../turns.ts";
import { createTrial, type Trial } from "../whatIf/trial.ts";
import type { InPieces } from "./inPieces.ts";
import { whatChanged } from "./whatChanged.ts";

/** What is known after one more moment of what could be advised. */
export interface Searched extends Omit<OffersFound, "inputs"> {
  /** When the cluster was as it was searched, seconds since the epoch. */
  readonly at: number;
  /** Whether a search has ended with this moment. */
  readonly isNew: boolean;
  /** Whether the next search has begun and not ended. */
  readonly isGoingOn: boolean;
  /** Offers whose plans hold no more, with what has changed: their needs wait for the next search. */
  readonly withdrawn: readonly Withdrawn[];
}

/** An offer whose plan holds no more. */
export interface Withdrawn {
  readonly offer: Offer;
  /** What has changed, in words. */
  readonly because: string;
}

/** Searches moments for advice, one after the other. */
export interface SearchRounds {
  /** Goes on with the search by the share of one cycle. The first search is done at once. */
  next(moment: AdviceMoment): Searched;
  /** Searches a moment at once, whatever that takes: an alert has asked for the answer. */
  atOnce(moment: AdviceMoment): Searched;
}

/** A search that has begun. */
interface Round {
  readonly moment: AdviceMoment;
  readonly trial: Trial;
  readonly pieces: InPieces<OffersFound>;
  /** The number of cycles that took part in it. */
  cycles: number;
  /** What it has taken so far. */
  effort: number;
  /** Whether it has ended. The next one begins when its cycles are over. */
  isDone: boolean;
}

/** What a search has found, and what it took. */
interface Ended {
  readonly found: OffersFound;
  readonly at: number;
  readonly effort: number;
}

/**
 * Makes a search that takes `turnsOf` cycles for each moment, and about the same effort in each of these cycles, as far as the
 * last search shows it. All needs are searched in one and the same moment, each of them once in every search. Until the next
 * search ends, what the last one has found is offered for as long as it holds in the present moment.
 */
export function createSearchRounds(turns: (nodes: number) => number = turnsOf): SearchRounds {
  let round: Round | null = null;
  let last: Ended | null = null;

  function end(of: Round, found: OffersFound, moment: AdviceMoment): Searched {
    last = { found, at: of.moment.analysis.snapshot.at, effort: of.effort };
    return answer(last, moment, true, false);
  }

  function atOnce(moment: AdviceMoment): Searched {
    [round, last] = [null, null];
    const begun = begin(moment);
    return end(begun, wholeOf(begun), moment);
  }

  return {
    atOnce,
    next(moment) {
      const cycles = turns(moment.analysis.snapshot.nodes.length);
      const before = last;
      if (before === null || cycles === 1) return atOnce(moment);
      const now = round === null || round.cycles >= cycles ? begin(moment) : round;
      // What a search that fails leaves behind is not used: the next cycle begins anew.
      [round, last] = [null, null];
      now.cycles += 1;
      const found = now.isDone
        ? null
        : now.cycles >= cycles
          ? wholeOf(now)
          : goOn(now, Math.ceil(before.effort / cycles));
      [round, last] = [now, before];
      return found === null ? answer(before, moment, false, !now.isDone) : end(now, found, moment);
    },
  };
}

function begin(moment: AdviceMoment): Round {
  const trial = createTrial(moment);
  return { moment, trial, pieces: offersInPieces(moment, trial), cycles: 0, effort: 0, isDone: false };
}

/** The result of a search, which takes what it takes. */
function wholeOf(round: Round): OffersFound {
  for (;;) {
    const found = goOn(round, Infinity);
    if (found !== null) return found;
  }
}

/** Does pieces of a search until they have taken so much; `null`: there are more. */
function goOn(round: Round, budget: number): OffersFound | null {
  for (let taken = 0; taken < budget; ) {
    const before = round.trial.effort();
    const next = round.pieces.next();
    const effort = round.trial.effort() - before + 1;
    taken += effort;
    round.effort += effort;
    if (next.done !== true) continue;
    round.isDone = true;
    return next.value;
  }
  return null;
}

/** What a search has found, as far as it holds in the present moment. */
function answer({ found, at }: Ended, moment: AdviceMoment, isNew: boolean, isGoingOn: boolean): Searched {
  const { inputs, ...rest } = found;
  if (at === moment.analysis.snapshot.at) return { ...rest, at, isNew, isGoingOn, withdrawn: [] };
  const offers: Offer[] = [];
  const withdrawn: Withdrawn[] = [];
  for (const offer of found.offers) {
    const own = inputs.get(offer.draft.id);
    const because = own === undefined ? null : whatChanged(own, moment);
    if (because === null) offers.push(offer);
    else withdrawn.push({ offer, because });
  }
  return {
    ...rest,
    offers,
    withheld: [...withdrawn.map(asWithheld), ...found.withheld],
    at,
    isNew,
    isGoingOn,
    withdrawn,
  };
}

const asWithheld = ({ offer: { draft }, because }: Withdrawn): WithheldAdvice => ({
  kind: draft.kind,
  subject: draft.beneficiary.name,
  why: "no-plan",
  reason: `${draft.title}: ${because}, so that another plan is searched for in the next search`,
  id: draft.id,
});
