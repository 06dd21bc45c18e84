import { secondsOf } from "../alerts/settingParts.ts";
import { arithmetic, filter, oneOf } from "../exporter/catalogue/promql.ts";
import { clampMin, offset, predictLinear } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limit, limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { meanOver, quantileOver } from "./query/overTime.ts";
import { orZero, partOf } from "./query/queries.ts";
import { week } from "./reviewWeeks.ts";

const by = ["cluster", "domain"] as const;

/** Demand against what can be given out, for each quota domain. */
export function demandOfDomains({ query, alerts, seriesLink }: Tools): PanelDraft {
  const demand = query.recorded("cluster_domain:fairlead_demand_gpus:p95");
  const capacity = query.recorded("cluster_domain:fairlead_domain_capacity_gpus:max");
  const { demandWindow } = alerts.alerts.GpuCapacityForecast;
  return timeSeries({
    title: "How much of capacity is wanted?",
    meaning: `GPUs that work holds or waits for, of those that can be given out, for each quota domain: the 95th percentile of ${demandWindow}, so that short peaks do not count. Above 100 % work waits on most days.`,
    unit: units.use,
    levels: worseAbove(limit(0.9, "watch"), limit(1, "act")),
    limits: true,
    size: [12, 8],
    shows: [shows(partOf(demand, capacity), "{{domain}} ({{cluster}})")],
    links: [seriesLink("fairness", "Who waits here?", { cluster: "cluster", domain: "domain" })],
  });
}

/** This week, last week, and where the trend leads. */
export function domainTable({ query, alerts, rowLink }: Tools): PanelDraft {
  const { trendWindow, ahead, minHistory } = alerts.alerts.GpuCapacityForecast;
  const demand = query.recorded("cluster_domain:fairlead_demand_gpus:sum");
  const daily = query.recorded("cluster_domain:fairlead_demand_gpus:p95");
  const capacity = query.recorded("cluster_domain:fairlead_domain_capacity_gpus:max");
  const trend = filter(
    clampMin(predictLinear(daily, trendWindow, secondsOf(ahead)), 0),
    "and",
    offset(daily, minHistory),
    by,
  );
  return table({
    title: "When will GPUs run out?",
    meaning: `GPUs that can be given out in each quota domain, and those that were allocated or waited for in 95 % of the last 7 days and of the 7 days before. In ${ahead}: where a line through the last ${trendWindow} leads, if it goes on like that, and which part of capacity that is; no number with less than ${minHistory} known.`,
    size: [24, 6],
    labels: { domain: "Quota domain", cluster: "Cluster" },
    values: [
      { title: "Capacity", query: capacity, unit: units.gpus, decimals: 0 },
      { title: "Wanted", query: quantileOver(0.95, demand, week), unit: units.gpus, decimals: 1 },
      { title: "Before", query: quantileOver(0.95, demand, week, week), unit: units.gpus, decimals: 1 },
      { title: `In ${ahead}`, query: trend, unit: units.gpus, decimals: 0 },
      {
        title: "Of capacity",
        query: partOf(trend, capacity),
        unit: units.use,
        levels: worseAbove(...limitOf(alerts, "GpuCapacityForecast", () => 1)),
      },
    ],
    sortBy: "Of capacity",
    noValue: "–",
    widths: { Cluster: 120, Capacity: 120, Wanted: 120, Before: 120, [`In ${ahead}`]: 120, "Of capacity": 120 },
    links: { domain: rowLink("fairness", "Who waits here?", { cluster: "cluster", domain: "domain" }) },
  });
}

/** What work waited for in a week, by why. */
export function unmetDemand({ query, rowLink }: Tools): PanelDraft {
  const known = query.recorded("cluster:fairlead_build_info:max");
  const waited = (causes: readonly string[] | null) => {
    const asked = causes === null ? {} : { cause: oneOf(causes) };
    const gpus = query.without("team").sum("fairlead_queue_waiting_gpus", by, asked);
    return arithmetic(meanOver(gpus, known, week), "*", 168);
  };
  const all = waited(null);
  const because = (title: string, ...causes: readonly string[]) => ({
    title,
    query: orZero(waited(causes), all),
    unit: units.gpuHours,
  });
  return barChart({
    title: "What did work wait for, and why?",
    meaning:
      "GPU-hours that work waited for in the last 7 days, by the one reason for each gang. Only the part without free GPUs is an argument for buying; quota and fragmentation can be fixed without buying.",
    unit: units.gpuHours,
    stack: "normal",
    noValue: "nothing waited",
    size: [12, 8],
    labels: { domain: "Quota domain", cluster: "Cluster" },
    along: "domain",
    values: [
      because("No GPU free", "capacity"),
      because("Quota", "quota"),
      because("Fragmentation", "fragmentation"),
      because("Other", "gang", "constraint", "admission_check", "scheduler", "unknown"),
    ],
    colours: {
      "No GPU free": "act",
      Quota: "watch",
      Fragmentation: "fourth",
      Other: "unknown",
    },
    links: [rowLink("fairness", "Which queues wait?", { cluster: "cluster", domain: "domain" })],
  });
}
