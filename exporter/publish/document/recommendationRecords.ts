import type { Advice, EffectMeasures, JsonValue, Money, Recommendation } from "../../model/recommendation.ts";
import { momentOf } from "./order.ts";
import type { RecommendationRecord, WithheldRecord } from "./recommendationSchema.ts";

/** Recommendations as the document has them: open ones first, most worth first. */
export function recommendationRecords({ recommendations }: Pick<Advice, "recommendations">): RecommendationRecord[] {
  return recommendations.map(recommendationRecord);
}

/** What was looked at and is not recommended. */
export function withheldRecords({ withheld }: Pick<Advice, "withheld">): WithheldRecord[] {
  return withheld.map(({ kind, subject, why, reason, id = null }) => ({ kind, subject, why, reason, id }));
}

/** One recommendation; times are UTC. */
export function recommendationRecord(one: Recommendation): RecommendationRecord {
  const { id, kind, state, title, reason, beneficiary, effect, cost, confidence, worthGpuHours, measured } = one;
  return {
    id,
    kind,
    act: one.act,
    state,
    title,
    reason,
    actReasons: [...one.actReasons],
    evidence: one.evidence.map(({ name, value }) => ({ name, value })),
    beneficiary: { kind: beneficiary.kind, name: beneficiary.name },
    targets: [...one.targets],
    fromTeam: named(one.fromTeam),
    forTeam: named(one.forTeam),
    queue: named(one.queue),
    pool: named(one.pool),
    steps: one.steps.map(stepRecord),
    questions: one.questions.map(({ to, about, question, facts }) => ({ to, about, question, facts: [...facts] })),
    habit: one.habit === null ? null : { ...one.habit },
    stalledSince: one.stalledSince === undefined ? null : momentOf(one.stalledSince),
    effect: {
      before: measures(effect.before),
      after: {
        mostAllocated: measures(effect.after.mostAllocated),
        leastAllocated: measures(effect.after.leastAllocated),
      },
      gainedGpus: { ...effect.gainedGpus },
      gainedGpuHours: { ...effect.gainedGpuHours },
      starts: [...effect.starts],
      savingPerWeek: effect.savingPerWeek.map(copyMoney),
    },
    cost: { ...cost, teams: [...cost.teams] },
    worthGpuHours,
    confidence: { level: confidence.level, reasons: [...confidence.reasons] },
    guards: [...one.guards],
    blockedAlternatives: [...one.blockedAlternatives],
    firstSeen: momentOf(one.firstSeenAt),
    opened: momentOf(one.openedAt),
    openings: one.openings,
    replaces: [...one.replaces],
    replacedBy: one.replacedBy,
    parts: one.parts === null ? null : { ...one.parts },
    computed: momentOf(one.computedAt),
    validUntil: momentOf(one.validUntil),
    closed: one.closedAt === null ? null : momentOf(one.closedAt),
    closedBecause: one.closedBecause,
    measured:
      measured === null
        ? null
        : {
            ...measured,
            at: momentOf(measured.at),
            undone: measured.undone === null ? null : { ...measured.undone, at: momentOf(measured.undone.at) },
          },
    aftermath: one.aftermath === null ? null : { ...one.aftermath, at: momentOf(one.aftermath.at) },
    alerts: one.alerts.map(({ alertname, fingerprint, status, startsAt }) => ({
      alertname,
      fingerprint,
      status,
      since: momentOf(startsAt),
    })),
  };
}

const named = (name: string): string | null => (name === "" ? null : name);
const copyMoney = ({ currency, amount }: Money) => ({ currency, amount });

function stepRecord({ title, request, precondition, command, dryRun, waitFor }: Recommendation["steps"][number]) {
  const { verb, path, contentType } = request;
  return {
    title,
    request: { verb, path, contentType, body: copyJson(request.body) },
    precondition,
    command,
    dryRun,
    waitFor,
  };
}

type Json = RecommendationRecord["steps"][number]["request"]["body"];

function copyJson(value: JsonValue): Json {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map(copyJson);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copyJson(entry)]));
}

/** `Array.isArray` knows no read-only lists. */
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

function measures({ placeablePods, deviations, costPerWeek, ...amounts }: EffectMeasures) {
  return {
    ...amounts,
    placeablePods: { ...placeablePods },
    deviations: deviations.map(({ queue, domain, gpus }) => ({ queue, domain, gpus })),
    costPerWeek: costPerWeek.map(copyMoney),
  };
}
