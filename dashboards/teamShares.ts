import { aggregate, arithmetic, type Expression, where } from "../exporter/catalogue/promql.ts";
import { arithmeticWithOne, clampMin, union } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { orZero } from "./query/queries.ts";

/** What says teams apart: teams of the same name in two clusters are two. */
export const ofTeam = ["cluster", "team"] as const;

/** What teams are entitled to, of all quota domains. */
export function entitledGpus({ query }: Tools): Expression<"cluster" | "team"> {
  return aggregate("sum", query.recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"), ofTeam);
}

/** What teams hold. One that has a share and holds nothing has no series of that: it holds 0. */
export function allocatedGpus(tools: Tools): Expression<"cluster" | "team"> {
  return orZero(tools.query.sum("fairlead_team_gpus", ofTeam), entitledGpus(tools));
}

/**
 * What work of teams waits for. Work that its queue has not admitted may have no pods yet, and a queue that several teams share
 * names none: of what queues and what pods say, the larger is at least true.
 */
export function waitingGpus({ query }: Tools): Expression<"cluster" | "team"> {
  const inQueues = query.sum("fairlead_queue_waiting_gpus", ofTeam);
  const ofPods = query.max("fairlead_team_pending_gpus", ofTeam);
  return union(union(where(inQueues, ">=", ofPods), ofPods), inQueues);
}

/** The picture of the page: whether the team gets what it is entitled to. */
export function allocatedAndShare(tools: Tools): PanelDraft {
  const allocated = allocatedGpus(tools);
  const demand = arithmetic(allocated, "+", orZero(waitingGpus(tools), allocated));
  return timeSeries({
    title: "Does it hold what it is entitled to?",
    meaning:
      "GPUs that the team holds, is entitled to, and would hold if nothing of it waited. Less than its share for hours is unfair to it; more than it is borrowed; far more wanted than its share needs more quota or less work. Where two are equal, the lower one of the three is seen.",
    unit: units.gpus,
    size: [24, 8],
    noValue: "no share known",
    shows: [
      // The last is drawn on top: a line shows only where it is above the next.
      shows(aggregate("sum", demand), "Allocated and waited for", "watch"),
      shows(aggregate("sum", entitledGpus(tools)), "Share", "good"),
      shows(aggregate("sum", allocated), "Allocated", "neutral"),
    ],
    links: [tools.seriesLink("fairness", "Who has more, who has less?", {})],
  });
}

/** Why work of the team waits, by queue. */
export function waitingWork({ query, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "queue", "cause"] as const;
  const queue = ["cluster", "queue"] as const;
  const waiting = where(query.sum("fairlead_queue_waiting_gpus", by), ">", 0);
  const oldest = query.max("fairlead_queue_oldest_wait_seconds", queue);
  return table({
    title: "What of its work waits, and why?",
    meaning:
      "GPUs that work of the team waits for in each queue, by the cause, and the longest wait of the queue. Capacity and quota: others hold what it needs, or it may hold no more. Fragmentation: enough is free, but not on one node. Work in queues that several teams share is shown only while all teams are chosen.",
    size: [12, 7],
    labels: { queue: "Queue", cause: "Why", cluster: "Cluster" },
    values: [
      { title: "Waits for", query: waiting, unit: units.gpus },
      {
        title: "Longest",
        query: arithmeticWithOne(arithmetic(waiting, "*", 0), "+", oldest, queue),
        unit: units.wait,
      },
    ],
    sortBy: "Waits for",
    noValue: "–",
    widths: { Why: 110, Cluster: 70, "Waits for": 90, Longest: 85 },
    links: { queue: rowLink("fairness", "Who is before it?", { cluster: "cluster", queue: "queue" }) },
  });
}

/** The share of the team where it has one: too much here does not make up for too little there. */
export function shareByDomain({ query, rowLink }: Tools): PanelDraft {
  const deviation = query.recorded("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum");
  return table({
    title: "Where is it below its share?",
    meaning:
      "What the team is entitled to in each quota domain (the pools that one quota counts over), and how much of it is missing. What is missing is allocated to others, or is free and does not fit; what it has too much elsewhere does not make up for it.",
    size: [12, 7],
    labels: { domain: "Quota domain", team: "Team", cluster: "Cluster" },
    values: [
      {
        title: "Share",
        query: query.recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"),
        unit: units.gpus,
      },
      { title: "Missing", query: clampMin(arithmetic(deviation, "*", -1), 0), unit: units.gpus },
    ],
    sortBy: "Missing",
    noValue: "–",
    widths: { Team: 100, Cluster: 75, Share: 85, Missing: 85 },
    links: {
      domain: rowLink("fairness", "Who has more here?", { cluster: "cluster", team: "team", domain: "domain" }),
    },
  });
}
