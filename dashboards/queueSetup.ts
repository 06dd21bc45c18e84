import { aggregate } from "../exporter/catalogue/promql.ts";
import { seriesOverTime } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

/** What each queue may have, and whether its scheduler counts in the same way as Fairlead. */
export function queueSetup(tools: Tools): readonly PanelDraft[] {
  return [quotas(tools), counts(tools)];
}

function quotas({ query, alerts, rowLink }: Tools): PanelDraft {
  const { window } = alerts.alerts.GpuReservationUnused;
  const by = ["cluster", "queue", "domain"] as const;
  const unused = query.recorded("cluster_queue_team_domain:fairlead_unused_guarantee:ratio");
  return table({
    title: "Quotas of queues",
    meaning: `What each queue is sure of in a quota domain, the mean part of that which it left unused over ${window}, the most that it may hold, its weight in what nobody is sure of, and what it holds. A guarantee that stays unused while others wait should be smaller, or lent; a missing limit means none.`,
    size: [24, 13],
    labels: { queue: "Queue", domain: "Quota domain", cluster: "Cluster" },
    values: [
      { title: "Holds", query: query.sum("fairlead_queue_allocated_gpus", by), unit: units.gpus },
      {
        title: "Is sure of",
        query: aggregate("sum", query.recorded("cluster_queue_team_domain:fairlead_queue_guaranteed_gpus:sum"), by),
        unit: units.gpus,
      },
      {
        title: "Unused of it",
        query: aggregate("max", seriesOverTime("avg", unused, window), by),
        unit: units.ratio,
        levels: worseAbove(...limitOf(alerts, "GpuReservationUnused", ({ unusedAbove }) => unusedAbove)),
      },
      { title: "At most", query: query.sum("fairlead_queue_limit_gpus", by), unit: units.gpus },
      { title: "Weight", query: query.max("fairlead_queue_weight", by), unit: { ...units.count, decimals: 2 } },
    ],
    sortBy: "Holds",
    empty: "no queue is known",
    widths: { Cluster: 90, Holds: 100, "Is sure of": 100, "Unused of it": 110, "At most": 100, Weight: 90 },
    links: { queue: rowLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue", domain: "domain" }) },
  });
}

function counts({ query, page }: Tools): PanelDraft {
  const by = ["cluster", "queue", "scheduler", "number", "shard"] as const;
  return table({
    title: "Numbers of schedulers and of Fairlead",
    meaning:
      "The number by which a scheduler judges a queue, as Fairlead computes it from the objects, and as the scheduler reports it. They should agree; where they do not, the scheduler acts on something that the objects do not say.",
    size: [24, 14],
    labels: { queue: "Queue", number: "Number", scheduler: "Scheduler", shard: "Shard", cluster: "Cluster" },
    values: [
      {
        title: "Computed",
        query: query.max("fairlead_queue_scheduler_value", by, { source: "computed" }),
        unit: { ...units.count, decimals: 2 },
      },
      {
        title: "Reported",
        query: query.max("fairlead_queue_scheduler_value", by, { source: "reported" }),
        unit: { ...units.count, decimals: 2 },
      },
    ],
    sortBy: "Computed",
    empty: "no scheduler reports numbers of its own",
    links: { number: { title: "What is wrong now, and what to do", url: page("/", "").url } },
  });
}
