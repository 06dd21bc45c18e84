import type { adviceMetrics } from "../../catalogue/advice.ts";
import { aftermathOutcomes, wrongOf } from "../../model/aftermath.ts";
import { adviceKinds, adviceStates, type Recommendation } from "../../model/recommendation.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { plainText } from "../terminal/columns.ts";
import { combined } from "./combined.ts";

/** Closed recommendations are counted for this many seconds. */
const closedSeconds = 86_400;

/**
 * Longest title as a label, in UTF-16 code units: it is no longer than any label value may be (kernel/labelValue.ts), and a
 * title that is cut shows it.
 */
const longestTitle = 200;

/** Recommendations as series. */
export const adviceProducers: Producers<keyof typeof adviceMetrics> = {
  fairlead_recommendation_gpus: (input) =>
    shown(input).map((one) => ({ labels: recordLabels(one), value: one.effect.gainedGpus.worst })),
  fairlead_recommendation_lost_gpu_seconds: (input) =>
    shown(input).map((one) => ({ labels: recordLabels(one), value: one.cost.lostGpuHours * 3600 })),
  fairlead_recommendation_saving_per_week: (input) =>
    shown(input).flatMap((one) =>
      one.effect.savingPerWeek.map(({ currency, amount }) => ({
        labels: { ...recordLabels(one), currency },
        value: amount,
      })),
    ),
  fairlead_recommendation_first_seen_timestamp_seconds: (input) =>
    shown(input).map(({ kind, id, firstSeenAt }) => ({ labels: { kind, id }, value: firstSeenAt })),
  fairlead_recommendation_info: (input) =>
    shown(input).map(({ id, title, act }) => ({
      // The title becomes part of a message that people read, so it is on one line and has no control characters.
      labels: { id, title: plainText(title, longestTitle), act },
      value: 1,
    })),
  fairlead_recommendation_outcomes: (input) =>
    trackRecords(input).flatMap(({ labels, outcomes }) =>
      aftermathOutcomes.map((outcome) => ({ labels: { ...labels, outcome }, value: outcomes[outcome] })),
    ),
  fairlead_recommendation_precision_ratio: (input) =>
    trackRecords(input).map(({ labels, outcomes }) => {
      const { wrong, all } = wrongOf(outcomes);
      return { labels, value: 1 - wrong / all };
    }),
  fairlead_recommendation_regret_gpu_seconds: (input) =>
    trackRecords(input).map(({ labels, regretGpuHours }) => ({ labels, value: regretGpuHours * 3600 })),
  fairlead_recommendation_search_timestamp_seconds: ({ advice, moment }) =>
    moment && [{ labels: {}, value: advice?.search?.at ?? null }],
  fairlead_recommendation_waiting_needs: ({ advice, moment }) =>
    moment && [{ labels: {}, value: advice?.search?.waiting ?? null }],
  fairlead_recommendations: ({ advice, moment }) => {
    if (advice === null || moment === null) return [];
    const { at } = moment.analysis.snapshot;
    const counted = advice.recommendations.filter(
      ({ closedAt }) => closedAt === null || at - closedAt <= closedSeconds,
    );
    return adviceKinds.flatMap((kind) =>
      adviceStates.map((state) => ({
        labels: { kind, state },
        value: counted.filter((one) => one.kind === kind && one.state === state).length,
      })),
    );
  },
  fairlead_recommendations_withheld: ({ advice, moment }) =>
    moment && combined((advice?.withheld ?? []).map(({ kind, why }) => ({ labels: { kind, reason: why }, value: 1 }))),
  fairlead_reducible_fragmentation_gpus: ({ advice, moment }) =>
    moment && [...(advice?.reducibleFragmentation ?? [])].map(([pool, value]) => ({ labels: { pool }, value })),
};

/** How recommendations turned out; none while the moment is not known or too old. */
function trackRecords({ advice, moment }: FamilyInput) {
  if (moment === null) return [];
  return (advice?.trackRecords ?? []).map(({ kind, act, ...record }) => ({ labels: { kind, act }, ...record }));
}

/** The open recommendations of each kind with the most worth; none while the moment is not known or too old. */
function shown({ advice, moment, topRecommendations }: FamilyInput): readonly Recommendation[] {
  if (advice === null || moment === null) return [];
  const open = advice.recommendations.filter(({ state }) => state === "open");
  return adviceKinds.flatMap((kind) => open.filter((one) => one.kind === kind).slice(0, topRecommendations));
}

function recordLabels({ kind, id, fromTeam, forTeam, queue, pool }: Recommendation) {
  return { kind, id, from_team: fromTeam, for_team: forTeam, queue, pool };
}
