import type { AdviceState, LinkedAlert, MeasuredEffect, Recommendation } from "../../model/recommendation.ts";
import type { StoredAdvice } from "../../model/storedAdvice.ts";
import type { Offer } from "../offer.ts";

/** One piece of advice with its life: what the ledger keeps of it. */
export interface LivingOffer {
  /** As it was worked out last. */
  offer: Offer;
  /** As it was first shown. */
  readonly title: string;
  readonly firstSeenAt: number;
  computedAt: number;
  validUntil: number;
  state: AdviceState;
  closedAt: number | null;
  closedBecause: string | null;
  measured: MeasuredEffect | null;
  alerts: readonly LinkedAlert[];
}

/** As faces show it. */
export function recommendationOf(living: LivingOffer): Recommendation {
  const { offer, title, firstSeenAt, computedAt, validUntil, state, closedAt, closedBecause, measured, alerts } =
    living;
  return {
    ...offer.draft,
    ...{ title, state, firstSeenAt, computedAt, validUntil, closedAt, closedBecause, measured, alerts },
  };
}

/** As the ledger keeps it. */
export function storedAdviceOf(living: LivingOffer): StoredAdvice {
  const { draft } = living.offer;
  const { id, kind, fromTeam, forTeam, queue, pool, effect, cost } = draft;
  const { title, firstSeenAt, state, closedAt, measured } = living;
  return {
    ...{ id, firstSeenAt, kind, state, closedAt, title, fromTeam, forTeam, queue, pool },
    gainedGpusWorst: effect.gainedGpus.worst,
    gainedGpusBest: effect.gainedGpus.best,
    lostGpuHours: cost.lostGpuHours,
    measuredGpus: measured?.gainedGpus ?? null,
    measuredLostGpuHours: measured?.lostGpuHours ?? null,
    record: JSON.stringify(living, finite),
  };
}

/** JSON knows no infinity: a queue without a limit has one that no cluster reaches. */
const beyondAll = 1e15;

const finite = (_key: string, value: unknown): unknown => (value === Infinity ? beyondAll : value);
