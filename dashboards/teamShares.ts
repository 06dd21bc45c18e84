import { aggregate, arithmetic, type Expression, where } from "../exporter/catalogue/promql.ts";
import { clampMin } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** The labels that distinguish teams: teams of the same name in two clusters are two. */
export const ofTeam = ["cluster", "team"] as const;

/** The GPUs to which teams are entitled, of all quota domains. */
export function entitledGpus({ query }: Tools): Expression<"cluster" | "team"> {
  return aggregate("sum", query.recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum"), ofTeam);
}

/** The main panel of the page: whether the team gets the GPUs to which it is entitled. */
export function allocatedAndShare(tools: Tools): PanelDraft {
  const { query } = tools;
  return timeSeries({
    title: "GPUs allocated, entitled and wanted",
    meaning:
      "GPUs that the team holds, is entitled to, and would hold if nothing of it waited. Less than its share for hours is unfair to it; more than it is borrowed; far more wanted than its share needs more quota or less work. Where two are equal, the lower one of the three is seen.",
    unit: units.gpus,
    size: [24, 8],
    noValue: "no share known",
    shows: [
      // The last series is drawn on top: a line is visible only where it is above the next ones.
      shows(
        aggregate("sum", query.recorded("cluster_team:fairlead_demand_gpus:sum")),
        "Allocated and waited for",
        "watch",
      ),
      shows(aggregate("sum", entitledGpus(tools)), "Share", "good"),
      shows(aggregate("sum", query.recorded("cluster_team:fairlead_allocated_gpus:sum")), "Allocated", "neutral"),
    ],
    links: [tools.seriesLink("fairness", "Who has more, who has less?", {})],
  });
}

/** Why work of the team waits, by queue. */
export function waitingWork({ query, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "queue", "cause"] as const;
  const waiting = where(query.sum("fairlead_queue_waiting_gpus", by), ">", 0);
  const oldest = query.recorded("cluster_queue_team_cause:fairlead_oldest_wait_seconds:max");
  return table({
    title: "GPUs waited for, by queue and cause",
    meaning:
      "GPUs that work of the team waits for in each queue, by the cause, and the longest wait of the queue. Capacity and quota: others hold what it needs, or it may hold no more. Fragmentation: enough is free, but not on one node. Work in queues that several teams share is shown only while all teams are chosen.",
    size: [12, 7],
    labels: { queue: "Queue", cause: "Why", cluster: "Cluster" },
    values: [
      { title: "Waits for", query: waiting, unit: units.gpus },
      {
        title: "Longest",
        query: aggregate("max", oldest, by),
        unit: units.wait,
      },
    ],
    sortBy: "Waits for",
    empty: "nothing of it waits",
    widths: { Why: 110, Cluster: 70, "Waits for": 90, Longest: 85 },
    links: { queue: rowLink("fairness", "Who is before it?", { cluster: "cluster", queue: "queue" }) },
  });
}

/** The share of the team by quota domain: too much in one domain does not make up for too little in another. */
export function shareByDomain({ query, rowLink }: Tools): PanelDraft {
  const deviation = query.recorded("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum");
  return table({
    title: "GPUs entitled and missing, by quota domain",
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
    nonZero: ["Share", "Missing"],
    sortBy: "Missing",
    empty: "no share is known",
    widths: { Team: 100, Cluster: 75, Share: 85, Missing: 85 },
    links: {
      domain: rowLink("fairness", "Who has more here?", { cluster: "cluster", team: "team", domain: "domain" }),
    },
  });
}
