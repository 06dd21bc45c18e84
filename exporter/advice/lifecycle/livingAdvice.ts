import type { Aftermath } from "../../model/aftermath.ts";
import type { AdviceState, LinkedAlert, MeasuredEffect, Recommendation } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import type { Offer } from "../offer.ts";

export const secondsPerDay = 86_400;

/** One piece of advice with its lifecycle: what the ledger stores of it. */
export interface LivingOffer {
  /** The offer as it was last worked out. While a person carries it out, it stays as it was when that began. */
  offer: Offer;
  readonly firstSeenAt: number;
  openedAt: number;
  openings: number;
  computedAt: number;
  validUntil: number;
  state: AdviceState;
  closedAt: number | null;
  closedBecause: string | null;
  replaces: readonly string[];
  replacedBy: string | null;
  parts: Recommendation["parts"];
  /**
   * For advice that was taken in part: the targets of the part that was done. These rest, and the others do not. `null`: all
   * rest.
   */
  rests: readonly string[] | null;
  measured: MeasuredEffect | null;
  aftermath: Aftermath | null;
  alerts: readonly LinkedAlert[];
}

/** The lifecycle of advice that has just been opened. */
export const notEnded = {
  closedAt: null,
  closedBecause: null,
  replacedBy: null,
  parts: null,
  rests: null,
  measured: null,
  aftermath: null,
} as const;

/** The advice as people see it. */
export function recommendationOf({ offer, rests, ...lifecycle }: LivingOffer): Recommendation {
  return { ...offer.draft, ...lifecycle };
}

/** The advice as the ledger stores it. */
export function storedAdviceOf(living: LivingOffer): StoredAdvice {
  const { draft } = living.offer;
  const { id, kind, title, fromTeam, forTeam, queue, pool, effect, cost } = draft;
  const { firstSeenAt, state, closedAt, measured } = living;
  return {
    id,
    firstSeenAt,
    kind,
    state,
    closedAt,
    title,
    fromTeam,
    forTeam,
    queue,
    pool,
    gainedGpusWorst: effect.gainedGpus.worst,
    gainedGpusBest: effect.gainedGpus.best,
    lostGpuHours: cost.lostGpuHours,
    measuredGpus: measured?.gainedGpus ?? null,
    measuredLostGpuHours: measured?.lostGpuHours ?? null,
    record: JSON.stringify(living, finite),
  };
}

/** JSON has no infinity: a queue without a limit gets one that no cluster reaches. */
const beyondAll = 1e15;

const finite = (_key: string, value: unknown): unknown => (value === Infinity ? beyondAll : value);
