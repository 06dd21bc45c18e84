import type { AdviceStep, Recommendation } from "../../exporter/model/recommendation.ts";
import type { RecommendationRecord } from "../../exporter/publish/document/recommendationSchema.ts";

const seconds = (moment: string): number => Date.parse(moment) / 1000;

/** A recommendation of the API as the model has it. */
export function recommendationOf(record: RecommendationRecord): Recommendation {
  const { firstSeen, opened, computed, validUntil, closed, measured, aftermath, alerts, steps, ...rest } = record;
  return {
    ...rest,
    fromTeam: record.fromTeam ?? "",
    forTeam: record.forTeam ?? "",
    queue: record.queue ?? "",
    pool: record.pool ?? "",
    steps: steps.map((step) => ({ ...step, request: requestOf(step.request) })),
    firstSeenAt: seconds(firstSeen),
    openedAt: seconds(opened),
    computedAt: seconds(computed),
    validUntil: seconds(validUntil),
    stalledSince: record.stalledSince === null ? undefined : seconds(record.stalledSince),
    closedAt: closed === null ? null : seconds(closed),
    measured: measured === null ? null : measuredOf(measured),
    aftermath: aftermath === null ? null : { ...aftermath, at: seconds(aftermath.at) },
    alerts: alerts.map(({ since, ...alert }) => ({ ...alert, startsAt: seconds(since) })),
  };
}

function measuredOf(measured: NonNullable<RecommendationRecord["measured"]>): Recommendation["measured"] {
  const { at, undone } = measured;
  return { ...measured, at: seconds(at), undone: undone === null ? null : { ...undone, at: seconds(undone.at) } };
}

type Request = AdviceStep["request"];

function requestOf({ contentType, ...rest }: RecommendationRecord["steps"][number]["request"]): Request {
  const known = contentTypes.find((type) => type === contentType);
  return { ...rest, contentType: known ?? null };
}

const contentTypes = [
  "application/json",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
] as const;
