import { adviceActs } from "../model/adviceAct.ts";
import { aftermathOutcomes } from "../model/aftermath.ts";
import { adviceKinds, adviceStates, withheldReasons } from "../model/recommendation.ts";
import type { MetricArea } from "./metric.ts";

const record = ["cluster", "kind", "id", "from_team", "for_team", "queue", "pool"] as const;

/**
 * Recommendations (docs/recommendations.md): their number, and the few open ones of each kind with the most worth
 * (`advice.topSeries`), so that an alert's annotation can name the next step. A series exists as long as its recommendation.
 */
export const adviceMetrics = {
  fairlead_recommendation_gpus: {
    unit: "gpus",
    help: "Physical GPUs that the beneficiary of an open recommendation gains, under the worse of two placement rules.",
    formula:
      "GPUs gained in the simulated plan; the smaller value of most-allocated and least-allocated placement; docs/recommendations.md defines for each kind what counts as gained",
    example: "Two jobs of ads with 8 GPUs each are suspended and two jobs of search with 8 GPUs each start: 16.",
    labels: record,
    values: { kind: adviceKinds },
    stability: "alpha",
  },
  fairlead_recommendation_lost_gpu_seconds: {
    unit: "gpu_seconds",
    help: "GPU time of work that is done again if an open recommendation is taken now.",
    formula:
      "sum over its pods of GPUs x (now - the later of start and last checkpoint) + GPUs x advice.restartMinutes",
    example: "8 GPUs, last checkpoint 20 min ago, 10 min to restart: 8 x 30 x 60 = 14400.",
    labels: record,
    values: { kind: adviceKinds },
    stability: "alpha",
  },
  fairlead_recommendation_saving_per_week: {
    unit: "cost",
    help: "What a week like the last 7 days would cost less after an open recommendation: by nodes that go away, and by unused GPUs that waiting work takes; by neither where they are reserved. A whole week is claimed only if it has been so for a week; absent where nothing is saved or nothing has a price.",
    formula:
      "price per GPU-hour x (GPUs of nodes that go away + unused GPUs that waiting work takes) x the hours, of the last 168, for which it has been so",
    example:
      "A node with 8 GPUs at 2.5 USD an hour that has been idle for 2 h: 8 x 2.5 x 2 = 40 USD; after a week 8 x 2.5 x 168 = 3360 USD.",
    labels: [...record, "currency"],
    values: { kind: adviceKinds },
    stability: "alpha",
  },
  fairlead_recommendation_first_seen_timestamp_seconds: {
    unit: "seconds",
    help: "When an open recommendation was first seen, in seconds since the epoch.",
    formula: "time of the first cycle in which it was worth giving",
    example: "1763298000 for 16 November 2025, 13:00 UTC.",
    labels: ["cluster", "kind", "id"],
    values: { kind: adviceKinds },
    stability: "alpha",
  },
  fairlead_recommendation_info: {
    unit: "info",
    help: "What an open recommendation says in one line.",
    formula: "1 for each recommendation that has series",
    example: '1 for title="give search 16 H100 back: suspend ads/embed-v3 and ads/crawl-42".',
    labels: ["cluster", "id", "title", "act"],
    values: { act: adviceActs },
    stability: "alpha",
  },
  fairlead_recommendation_outcomes: {
    unit: "count",
    help: "Recommendations that were shown and whose outcome became known within the last 30 days, taken or not.",
    formula:
      "count; came-back: the idle work that it named worked again by itself within advice.horizonHours; evicted-again: pods that it moved lost their place once more; ended: the work ended by itself; stayed: none of these",
    example: "Of 14 pieces of idle work, 2 worked again: 2 with outcome came-back, 12 with outcome stayed.",
    labels: ["cluster", "kind", "act", "outcome"],
    values: { kind: adviceKinds, act: adviceActs, outcome: aftermathOutcomes },
    stability: "alpha",
  },
  fairlead_recommendation_precision_ratio: {
    unit: "ratio",
    help: "Of recommendations whose outcome became known within the last 30 days, the part that was right; absent without any.",
    formula: "1 - (came-back + evicted-again) / all outcomes",
    example: "2 of 14 came back: 0.857.",
    labels: ["cluster", "kind", "act"],
    values: { kind: adviceKinds, act: adviceActs },
    stability: "alpha",
  },
  fairlead_recommendation_regret_gpu_seconds: {
    unit: "gpu_seconds",
    help: "GPU time that recommendations which turned out wrong within the last 30 days would have cost, or did cost, for nothing.",
    formula: "sum over came-back and evicted-again of the GPU time that was to be lost, or was measured as lost",
    example: "A job of 8 GPUs that had worked for 20 h came back: 8 x 20 x 3600 = 576000.",
    labels: ["cluster", "kind", "act"],
    values: { kind: adviceKinds, act: adviceActs },
    stability: "alpha",
  },
  fairlead_recommendation_search_timestamp_seconds: {
    unit: "seconds",
    help: "The moment that was last searched for recommendations, in seconds since the epoch.",
    formula: "time of the moment that the last ended search looked at; a search takes one cycle for each 2,500 nodes",
    example: "1763298000 for 16 November 2025, 13:00 UTC.",
    labels: ["cluster"],
    stability: "alpha",
  },
  fairlead_recommendation_waiting_needs: {
    unit: "count",
    help: "Needs whose plans hold no more since the last search, and which wait for their turn in the next one.",
    formula:
      "count of plans that the last search found and that a change of their pods, nodes, queues or waiting work ended",
    example: "2: a pod of one plan has ended, and the node of another was cordoned.",
    labels: ["cluster"],
    stability: "alpha",
  },
  fairlead_recommendations: {
    unit: "count",
    help: "Recommendations by kind and state: open now, or closed in the last 24 hours.",
    formula: "count of recommendations; of taken, expired and dismissed ones those that closed within 24 h",
    example: "3 open of kind reclaim, 1 taken in the last 24 h: two series, 3 and 1.",
    labels: ["cluster", "kind", "state"],
    values: { kind: adviceKinds, state: adviceStates },
    stability: "alpha",
  },
  fairlead_recommendations_withheld: {
    unit: "count",
    help: "What was looked at in the last cycle and is not recommended, by reason.",
    formula:
      "count of plans that a guard forbids, that gain too little, that another excludes, that must still last or cool down",
    example: "2 with reason guard: two plans would evict pods that a PodDisruptionBudget protects.",
    labels: ["cluster", "kind", "reason"],
    values: { kind: adviceKinds, reason: withheldReasons },
    stability: "alpha",
  },
  fairlead_reducible_fragmentation_gpus: {
    unit: "gpus",
    help: "Physical GPUs by which the expected fragmentation of a pool would fall after the best plan within advice.maxMoves.",
    formula: "expected fragmentation now - expected fragmentation after the best plan",
    example: "9.5 now and 6.0 after moving 2 pods: 3.5.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
} as const satisfies MetricArea;
