import type { adviceKinds } from "../exporter/model/recommendation.ts";
import type { DashboardName } from "./dashboardUid.ts";
import { exporterAlerts } from "./exporterAlerts.ts";

/** How much an alert matters; it follows from what the alert asks for (`severityOf`). */
export const severities = ["critical", "warning", "info"] as const;
export type Severity = (typeof severities)[number];

/** The subject areas of alerts, which decide routes and inhibitions. */
export const areas = ["fairness", "idle", "fragmentation", "cost", "capacity", "exporter"] as const;
export type Area = (typeof areas)[number];

/** The response that an alert asks for: action now, action this week, or a line in a summary. */
export const actions = ["page", "ticket", "digest"] as const;
export type Action = (typeof actions)[number];

/** The severity for each action. `info` is for digests: kube-prometheus mutes it unless something worse fires beside it. */
export const severityOf: Readonly<Record<Action, Severity>> = { page: "critical", ticket: "warning", digest: "info" };

/** Labels that an alert takes from its series. */
export type SubjectLabel = "cluster" | "team" | "queue" | "domain" | "pool" | "node_pool" | "currency";

export type AdviceKindLabel = (typeof adviceKinds)[number];

/** The recommendations that can answer an alert: those of these kinds whose labels are equal to those of the alert. */
export interface AdviceMatch {
  readonly kinds: readonly AdviceKindLabel[];
  /** The label of the alert that must be equal, by the label of the recommendation. */
  readonly same: Readonly<Partial<Record<"from_team" | "for_team" | "queue" | "pool", SubjectLabel>>>;
}

/** The fixed properties of an alert; its thresholds are in `thresholds.ts`, its expression in `rules/`. */
export interface ListedAlert {
  readonly area: Area;
  readonly action: Action;
  readonly labels: readonly SubjectLabel[];
  readonly dashboard: DashboardName;
  /** The recommendations that answer it; absent if none does. */
  readonly advice?: AdviceMatch;
  /** A summary in one sentence, without values. */
  readonly summary: string;
}

const fleet = { area: "capacity", dashboard: "fleet" } as const;
const cost = { area: "cost", dashboard: "cost" } as const;
const fairness = { area: "fairness", dashboard: "fairness" } as const;
const fragmentation = { area: "fragmentation", dashboard: "waste" } as const;
const idle = { area: "idle", dashboard: "waste" } as const;

const forTheStarved = ["reclaim", "unblock_gang", "defragment", "change_quota", "fix_scheduler"] as const;
const lessWaste = ["release_idle", "right_size", "share_gpu"] as const;
const lessCost = [...lessWaste, "scale_in"] as const;

/** All alerts, in the order of their files: what a name means never changes with its thresholds. */
export const alertList = {
  GpuTeamStarved: {
    ...fairness,
    action: "ticket",
    labels: ["cluster", "team", "domain"],
    advice: { kinds: forTheStarved, same: { for_team: "team" } },
    summary: "A team holds far fewer GPUs than its share while work that fits its share waits.",
  },
  GpuTeamStarvedLong: {
    ...fairness,
    action: "page",
    labels: ["cluster", "team", "domain"],
    advice: { kinds: forTheStarved, same: { for_team: "team" } },
    summary: "A team misses much GPU time of its share while work that fits its share waits.",
  },
  GpuTeamAboveFairShare: {
    ...fairness,
    action: "ticket",
    labels: ["cluster", "team", "domain"],
    advice: { kinds: ["reclaim", "change_quota"], same: { from_team: "team" } },
    summary: "A team holds far more GPUs than its share, which waiting work of a starved team could use.",
  },
  GpuFairnessLow: {
    ...fairness,
    action: "digest",
    labels: ["cluster", "domain"],
    advice: { kinds: ["reclaim", "change_quota", "fix_scheduler"], same: {} },
    summary: "GPUs have been shared unevenly between queues for hours.",
  },
  GpuReservationUnused: {
    ...fairness,
    action: "digest",
    labels: ["cluster", "queue", "team", "domain"],
    // The queue of a recommendation is the one that gains GPUs; the team that leaves GPUs unused is the one that gives them.
    advice: { kinds: ["change_quota"], same: { from_team: "team" } },
    summary: "A queue has left most of its guaranteed GPUs unused for days while others wait.",
  },
  GpuPodsPastQueues: {
    ...fairness,
    action: "digest",
    labels: ["cluster", "domain"],
    summary: "Pods of no queue hold GPUs that queues are guaranteed and wait for.",
  },
  GpuServingLate: {
    ...fairness,
    action: "ticket",
    labels: ["cluster", "team"],
    summary: "Servers of a team are over their target of latency while requests wait.",
  },
  GpuQueueWaitHigh: {
    ...fairness,
    action: "ticket",
    labels: ["cluster", "queue"],
    advice: { kinds: forTheStarved, same: { queue: "queue" } },
    summary: "Work of a queue waits longer than its target.",
  },
  GpuQueueStuck: {
    ...fairness,
    action: "ticket",
    labels: ["cluster", "queue", "team"],
    advice: { kinds: ["fix_scheduler", "unblock_gang", "change_quota"], same: { queue: "queue" } },
    summary: "Work of a queue waits although it fits and its quota allows it, and nothing of the queue starts.",
  },
  GpuQueueStuckLong: {
    ...fairness,
    action: "page",
    labels: ["cluster", "queue", "team"],
    advice: { kinds: ["fix_scheduler", "unblock_gang", "change_quota"], same: { queue: "queue" } },
    summary: "Much GPU time of a queue is lost: its work fits and its quota allows it, and nothing of it starts.",
  },

  GpuPreemptionStorm: {
    ...fairness,
    action: "ticket",
    labels: ["cluster", "queue"],
    advice: { kinds: ["change_quota", "fix_scheduler"], same: { queue: "queue" } },
    summary: "Work of a queue is evicted far more often than usual.",
  },
  GpuIdleAllocated: {
    ...idle,
    action: "ticket",
    labels: ["cluster", "team", "pool"],
    advice: { kinds: lessWaste, same: { from_team: "team", pool: "pool" } },
    summary: "A team holds GPUs that have done nothing for a long time.",
  },
  GpuIdleExpensive: {
    ...idle,
    action: "ticket",
    labels: ["cluster", "team", "currency"],
    advice: { kinds: lessWaste, same: { from_team: "team" } },
    summary: "Idle GPUs of a team cost more in a day than is allowed.",
  },
  GpuGangBroken: {
    ...idle,
    action: "ticket",
    labels: ["cluster", "team"],
    advice: { kinds: ["unblock_gang"], same: { from_team: "team" } },
    summary: "A gang of a team has run and lost a member, and its GPUs do nothing since.",
  },
  GpuFragmentationHigh: {
    ...fragmentation,
    action: "ticket",
    labels: ["cluster", "pool"],
    advice: { kinds: ["defragment", "scale_in"], same: { pool: "pool" } },
    summary: "Most free GPUs of a pool are on nodes where no typical pod fits.",
  },
  GpuJobUnplaceable: {
    ...fragmentation,
    action: "ticket",
    labels: ["cluster", "pool"],
    advice: { kinds: ["defragment", "unblock_gang"], same: { pool: "pool" } },
    summary: "Enough GPUs are free for waiting work, but not on nodes where it could run.",
  },
  GpuJobUnplaceableLong: {
    ...fragmentation,
    action: "page",
    labels: ["cluster", "pool"],
    advice: { kinds: ["defragment", "unblock_gang"], same: { pool: "pool" } },
    summary: "Much GPU time is lost: enough GPUs are free for waiting work, but not on nodes where it could run.",
  },

  GpuBudgetBurnFast: {
    ...cost,
    action: "ticket",
    labels: ["cluster", "team", "currency"],
    advice: { kinds: lessCost, same: { from_team: "team" } },
    summary: "A team spends its GPU budget of the month too fast.",
  },
  GpuBudgetExhausted: {
    ...cost,
    action: "ticket",
    labels: ["cluster", "team", "currency"],
    advice: { kinds: lessCost, same: { from_team: "team" } },
    summary: "A team has spent its GPU budget of the month.",
  },
  GpuPriceStale: {
    ...cost,
    action: "digest",
    labels: ["cluster", "pool"],
    summary: "GPUs of a pool have an old price or none, so their cost is wrong or missing.",
  },
  GpuRecommendationIgnored: {
    area: "cost",
    action: "digest",
    labels: ["cluster", "team", "currency"],
    dashboard: "review",
    advice: { kinds: [...lessCost, "defragment", "change_quota"], same: { from_team: "team" } },
    summary: "Recommendations that would save much have been open for a week, neither followed nor dismissed.",
  },
  GpuCapacityExhausted: {
    area: "capacity",
    action: "ticket",
    labels: ["cluster", "domain"],
    dashboard: "review",
    advice: { kinds: [...lessWaste, "reclaim", "unblock_gang"], same: {} },
    summary: "No GPU is free and work waits for GPUs.",
  },
  GpuCapacityForecast: {
    area: "capacity",
    action: "digest",
    labels: ["cluster", "domain"],
    dashboard: "review",
    advice: { kinds: [...lessCost, "defragment"], same: {} },
    summary: "Demand for GPUs will pass what the cluster has if it goes on growing.",
  },
  GpuNodeLost: {
    ...fleet,
    action: "ticket",
    labels: ["cluster", "node_pool"],
    summary: "Nodes with GPUs are not ready, and their GPUs cannot be used.",
  },
  GpuNodeLostLong: {
    ...fleet,
    action: "page",
    labels: ["cluster", "node_pool"],
    summary: "Much GPU time is lost on nodes that are not ready.",
  },
  GpuDrainNow: {
    ...fleet,
    action: "ticket",
    labels: ["cluster", "node_pool"],
    summary: "Work runs on GPUs with a fault that ends or corrupts it.",
    advice: { kinds: ["drain_node"], same: {} },
  },
  GpuLookToday: {
    ...fleet,
    action: "ticket",
    labels: ["cluster", "node_pool"],
    summary: "GPUs on ready nodes cannot be used, and wait for repair.",
  },
  GpuWatch: {
    ...fleet,
    action: "digest",
    labels: ["cluster", "node_pool"],
    summary: "GPUs work, but show signs of a fault or are slowed down.",
  },

  ...exporterAlerts,
} as const satisfies Readonly<Record<string, ListedAlert>>;

export type AlertName = keyof typeof alertList;

/** The labels that an alert takes from its series. */
export type AlertLabels<Name extends AlertName> = (typeof alertList)[Name]["labels"][number];

export const alertNames: readonly AlertName[] = namesOf(alertList);

/** An alert, widened to what all alerts have in common, with its severity. */
export function listedAlert(name: AlertName): ListedAlert & { readonly severity: Severity } {
  const listed: ListedAlert = alertList[name];
  return { ...listed, severity: severityOf[listed.action] };
}

function namesOf<Shape extends object>(shape: Shape): (keyof Shape)[] {
  const names: (keyof Shape)[] = [];
  for (const name in shape) names.push(name);
  return names;
}
