import type { Advice, EffectMeasures, Recommendation } from "../../model/recommendation.ts";
import { momentOf } from "./order.ts";
import type { RecommendationRecord, WithheldRecord } from "./schema.ts";

/** Recommendations as the document has them: open ones come first, and among these the ones with the most worth. */
export function recommendationRecords({
  recommendations,
}: Pick<Advice, "recommendations">): readonly RecommendationRecord[] {
  return recommendations.map(recommendationRecord);
}

/** What was looked at and is not recommended. */
export function withheldRecords({ withheld }: Pick<Advice, "withheld">): readonly WithheldRecord[] {
  return withheld.map(({ kind, subject, why, reason, id = null }) => ({ kind, subject, why, reason, id }));
}

/** The record of one recommendation; times are in UTC. */
export function recommendationRecord(one: Recommendation): RecommendationRecord {
  const { measured, aftermath } = one;
  return {
    id: one.id,
    kind: one.kind,
    act: one.act,
    state: one.state,
    title: one.title,
    reason: one.reason,
    actReasons: one.actReasons,
    evidence: one.evidence,
    beneficiary: one.beneficiary,
    targets: one.targets,
    fromTeam: one.fromTeam || null,
    forTeam: one.forTeam || null,
    queue: one.queue || null,
    pool: one.pool || null,
    steps: one.steps,
    questions: one.questions,
    habit: one.habit,
    stalledSince: one.stalledSince === undefined ? null : momentOf(one.stalledSince),
    effect: {
      ...one.effect,
      before: measures(one.effect.before),
      after: {
        mostAllocated: measures(one.effect.after.mostAllocated),
        leastAllocated: measures(one.effect.after.leastAllocated),
      },
    },
    cost: one.cost,
    worthGpuHours: one.worthGpuHours,
    confidence: one.confidence,
    guards: one.guards,
    blockedAlternatives: one.blockedAlternatives,
    firstSeen: momentOf(one.firstSeenAt),
    opened: momentOf(one.openedAt),
    openings: one.openings,
    replaces: one.replaces,
    replacedBy: one.replacedBy,
    parts: one.parts,
    computed: momentOf(one.computedAt),
    validUntil: momentOf(one.validUntil),
    closed: one.closedAt === null ? null : momentOf(one.closedAt),
    closedBecause: one.closedBecause,
    measured: measured && {
      ...measured,
      at: momentOf(measured.at),
      undone: measured.undone && { ...measured.undone, at: momentOf(measured.undone.at) },
    },
    aftermath: aftermath && { ...aftermath, at: momentOf(aftermath.at) },
    alerts: one.alerts.map(({ startsAt, ...alert }) => ({ ...alert, since: momentOf(startsAt) })),
  };
}

/** The measures in the order of the document: plain numbers come first. */
const measures = ({ placeablePods, deviations, costPerWeek, ...numbers }: EffectMeasures): EffectMeasures => ({
  ...numbers,
  placeablePods,
  deviations,
  costPerWeek,
});
