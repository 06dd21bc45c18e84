import { exhaustionReasons } from "../alerts/rules/recordExhaustion.ts";
import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, arithmetic, filter, oneOf } from "../exporter/catalogue/promql.ts";
import type { WaitCause } from "../exporter/model/waitCauses.ts";
import { adviceTable } from "./adviceTable.ts";
import { collapsedRow, type DashboardDefinition, opening, row, type Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limit, limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { text } from "./panel/text.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { at, quantileOver, sumOfDays } from "./query/overTime.ts";
import { partOf } from "./query/queries.ts";
import { hoursOfWeek, week, weekAgainstWeek, whatGpusDid } from "./reviewWeeks.ts";

/** The dashboard for the weekly meeting: the last 7 days against the 7 before, what comes, and what to decide. */
export const review: DashboardDefinition = {
  name: "review",
  title: "Fairlead: weekly capacity review",
  description: "What changed in a week, will capacity last, and what should we decide?",
  variables: ["team", "domain"],
  from: "now-7d",
  refresh: "",
  sections: (tools) => [
    opening(...weekAgainstWeek(tools), whatGpusDid(tools)),
    row(
      "When do GPUs run out, and what do we decide?",
      domainTable(tools),
      adviceTable(tools, {
        title: "Open recommendations",
        meaning: `The eight open recommendations that gain most GPUs, and what each saves a week in ${tools.currency}. Decide on each: take it, or dismiss it with a reason, so that it is not offered again.`,
        size: [24, 10],
        teams: "from",
        count: 8,
        per: "week",
        ageLevels: worseAbove(
          ...limitOf(tools.alerts, "GpuRecommendationIgnored", ({ openForSeconds }) => openForSeconds),
        ),
      }),
      questions(tools.page("/review", "").url),
    ),
    collapsedRow("What was wanted, and what did work wait for?", demandOfDomains(tools), unmetDemand(tools)),
    collapsedRow("Who holds more, and what became of advice?", movers(tools), outcomes(tools)),
  ],
};

const domainLabels = ["cluster", "domain"] as const;

/** Demand against capacity, for each quota domain. */
function demandOfDomains({ query, alerts, seriesLink }: Tools): PanelDraft {
  const demand = query.recorded("cluster_domain:fairlead_demand_gpus:p95");
  const capacity = query.recorded("cluster_domain:fairlead_domain_capacity_gpus:max");
  const { demandWindow } = alerts.alerts.GpuCapacityForecast;
  return timeSeries({
    title: "Demand, part of capacity",
    meaning: `GPUs that work holds or waits for, of those that can be given out, for each quota domain: the 95th percentile of ${demandWindow}, so that short peaks do not count. Above 100 % work waits on most days.`,
    unit: units.use,
    levels: worseAbove(limit(0.9, "watch"), limit(1, "act")),
    limits: true,
    size: [12, 8],
    shows: [shows(partOf(demand, capacity), "{{domain}} ({{cluster}})")],
    links: [seriesLink("fairness", "Who waits here?", { cluster: "cluster", domain: "domain" })],
  });
}

/** This week, last week, and the trend of each quota domain. */
function domainTable({ query, alerts, rowLink }: Tools): PanelDraft {
  const { trendWindow, minHistory } = alerts.alerts.GpuCapacityForecast;
  const demand = query.recorded("cluster_domain:fairlead_demand_gpus:sum");
  const capacity = query.recorded("cluster_domain:fairlead_domain_capacity_gpus:max");
  const end = query.recorded("cluster_domain:fairlead_exhaustion_timestamp_seconds:predicted");
  const { short, notGrowing, farOff, shortHistory } = exhaustionReasons;
  return table({
    title: "Day on which GPUs run out",
    meaning: `GPUs that can be given out in each quota domain, and those that were allocated or waited for in 95 % of the last 7 days and of the 7 days before. They run out when a line through the last ${trendWindow} reaches capacity, if it goes on like that; where no day can be said, the column says why not.`,
    size: [24, 6],
    labels: { domain: "Quota domain", cluster: "Cluster" },
    values: [
      { title: "Capacity", query: capacity, unit: units.gpus, decimals: 0 },
      { title: "Wanted", query: quantileOver(0.95, demand, week), unit: units.gpus, decimals: 1 },
      { title: "Before", query: quantileOver(0.95, demand, week, week), unit: units.gpus, decimals: 1 },
      {
        title: "Run out",
        query: arithmetic(end, "*", 1000),
        unit: units.day,
        texts: {
          [short]: "now: all is wanted",
          [notGrowing * 1000]: "not: demand does not grow",
          [farOff * 1000]: "not within a year",
          [shortHistory * 1000]: `not known: less than ${minHistory} of history`,
        },
      },
    ],
    sortBy: "Wanted",
    empty: "no quota domain is known",
    widths: { Cluster: 120, Capacity: 120, Wanted: 120, Before: 120, "Run out": 260 },
    links: { domain: rowLink("fairness", "Who waits here?", { cluster: "cluster", domain: "domain" }) },
  });
}

/** The GPUs that work waited for in a week, by cause. */
function unmetDemand({ query, rowLink }: Tools): PanelDraft {
  const all = query.recorded("cluster_domain_cause:fairlead_queue_waiting_gpus:mean7d");
  const because = (title: string, ...causes: readonly WaitCause[]) => {
    const waited = query.recorded("cluster_domain_cause:fairlead_queue_waiting_gpus:mean7d", { cause: oneOf(causes) });
    const hours = arithmetic(orZero(waited, all), "*", hoursOfWeek);
    return { title, query: aggregate("sum", hours, domainLabels), unit: units.gpuHours };
  };
  return barChart({
    title: "GPU-hours waited for, by cause",
    meaning:
      "GPU-hours that work waited for in the last 7 days, by the one reason for each gang. Only the part without free GPUs is an argument for buying, and gangs that fit only in part; quota and fragmentation can be fixed without buying.",
    unit: units.gpuHours,
    stack: "normal",
    noValue: "nothing waited",
    size: [12, 8],
    labels: { domain: "Quota domain", cluster: "Cluster" },
    along: "domain",
    values: [
      because("No GPU free", "capacity"),
      because("Quota", "quota"),
      because("Fragmentation", "fragmentation", "topology"),
      because("Part of a gang", "gang"),
      because("Other", "constraint", "admission_check", "scheduler", "unknown"),
    ],
    colours: {
      "No GPU free": "act",
      Quota: "watch",
      Fragmentation: "fourth",
      "Part of a gang": "third",
      Other: "unknown",
    },
    links: [rowLink("fairness", "Which queues wait?", { cluster: "cluster", domain: "domain" })],
  });
}

/** The teams by how many more GPUs they held than in the week before. */
function movers({ query, currency, money, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "team"] as const;
  const allocated = query.recorded("cluster_team:fairlead_allocated_gpus:mean7d");
  const before = at(allocated, week);
  // A team without series held nothing if Fairlead ran, which is 0 and not unknown.
  const ran = at(query.recorded("cluster:fairlead_build_info:count7d"), week);
  const cost = query.recorded("cluster_team_currency:fairlead_team_cost_per_hour:mean7d", { currency });
  const charged = (ago?: typeof week) => arithmetic(aggregate("sum", at(cost, ago), by), "*", hoursOfWeek);
  return table({
    title: "GPUs and charges, against a week ago",
    meaning: `GPUs allocated to each team as a mean of the last 7 days, the difference to the 7 days before, how many of them were idle, and what it was charged, in ${currency}. Ask those at the top what comes, and those at the bottom what they need no more.`,
    size: [24, 10],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "GPUs", query: orZero(allocated, before), unit: units.gpus, decimals: 1 },
      {
        title: "Before",
        query: orZero(before, filter(allocated, "and", ran, ["cluster"])),
        unit: units.gpus,
        decimals: 1,
      },
      {
        title: "Change",
        query: query.recorded("cluster_team:fairlead_allocated_gpus:change7d"),
        unit: units.gpusMoreOrLess,
        decimals: 1,
      },
      { title: "Idle", query: query.recorded("cluster_team:fairlead_idle_gpus:mean7d"), unit: units.gpus, decimals: 1 },
      { title: "Charged", query: charged(), unit: money },
      { title: "Charged before", query: charged(week), unit: money },
    ],
    nonZero: ["GPUs", "Before", "Charged", "Charged before"],
    sortBy: "Change",
    empty: "no team held GPUs in either week",
    widths: { Cluster: 110, GPUs: 105, Before: 105, Change: 105, Idle: 100, Charged: 105, "Charged before": 135 },
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team" }) },
  });
}

/** The recommendations of a week, by their outcome. */
function outcomes({ query, page }: Tools): PanelDraft {
  const by = ["cluster", "kind"] as const;
  const all = query.sum("fairlead_recommendations", by);
  // The metric counts what closed in the last 24 hours, so it is read once a day.
  const closed = (state: "taken" | "expired" | "dismissed") =>
    orZero(sumOfDays(query.sum("fairlead_recommendations", by, { state }), week), all);
  return table({
    title: "Outcomes of recommendations",
    meaning:
      "Recommendations of each kind that are open, and those that closed in the last seven whole days (UTC): taken, no longer true, or dismissed. Kinds that are dismissed again and again should be turned off or tuned.",
    size: [24, 9],
    labels: { kind: "Kind", cluster: "Cluster" },
    values: [
      { title: "Open", query: query.sum("fairlead_recommendations", by, { state: "open" }), unit: units.count },
      { title: "Taken", query: closed("taken"), unit: units.count },
      { title: "Expired", query: closed("expired"), unit: units.count },
      { title: "Dismissed", query: closed("dismissed"), unit: units.count },
    ],
    nonZero: ["Open", "Taken", "Expired", "Dismissed"],
    sortBy: "Open",
    empty: "no recommendation was open or closed",
    widths: { Cluster: 90, Open: 75, Taken: 80, Expired: 85, Dismissed: 100 },
    links: { kind: page("/recommendations", "Which are they?") },
  });
}

function questions(reviewUrl: string) {
  return text({
    title: "Decisions of today",
    size: [24, 6],
    markdown: [
      "1. **Is there enough?** Where demand passes capacity in the next weeks: take waste back first, move quota, or buy? Who asks for what, and until when?",
      "2. **Who gives back what?** Idle GPUs by team, in the last row: which of them go today, and which stay, with whose name beside the reason?",
      "3. **Which recommendations do we take?** One owner for each, or dismissed with a reason. What became of those of last week?",
      "",
      `All numbers compare the 7 days before the end of the time range with the 7 days before these; the time range moves their end only. Numbers without a team's or a domain's name are of all. [The review in Fairlead](${reviewUrl}) has the same week from its own accounts, with waits and jobs.`,
    ].join("\n"),
  });
}
