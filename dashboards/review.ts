import { secondsOf } from "../alerts/settingParts.ts";
import { aggregate, arithmetic, type Expression, filter, matches, oneOf } from "../exporter/catalogue/promql.ts";
import { arithmeticWithOne, clampMin, offset, predictLinear, union } from "../exporter/catalogue/promqlSeries.ts";
import { adviceGpus, adviceTable } from "./adviceTable.ts";
import { type DashboardDefinition, opening, row, type Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limit, limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { text } from "./panel/text.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { meanOver, quantileOver, sumOfDays } from "./query/overTime.ts";
import { orZero, partOf } from "./query/queries.ts";
import { week, weekAgainstWeek, whatGpusDid } from "./reviewWeeks.ts";

/** One page to hold the weekly meeting from: the last 7 days against the 7 before, what comes, and what to decide. */
export const review: DashboardDefinition = {
  name: "review",
  title: "Fairlead: weekly capacity review",
  description: "What changed in a week, will capacity last, and what should we decide?",
  variables: ["team", "domain"],
  from: "now-7d",
  refresh: "",
  sections: (tools) => [
    opening(...weekAgainstWeek(tools), whatGpusDid(tools)),
    row("Is there enough?", demandOfDomains(tools), unmetDemand(tools), domainTable(tools)),
    row(
      "Who and what to do",
      movers(tools),
      adviceTable(tools, {
        title: "What should be done?",
        meaning: `The eight open recommendations that gain most GPUs, and what each saves a week in ${tools.currency}. Decide on each: take it, or dismiss it with a reason, so that it is not offered again.`,
        size: [24, 10],
        gpus: tools.query.without("pool", "domain").recorded(adviceGpus, { from_team: matches("$team") }),
        count: 8,
        per: "week",
        ageLevels: worseAbove(
          ...limitOf(tools.alerts, "GpuRecommendationIgnored", ({ openForSeconds }) => openForSeconds),
        ),
      }),
      outcomes(tools),
      questions(tools.page("/review", "").url),
    ),
  ],
};

const domainLabels = ["cluster", "domain"] as const;

/** Demand against what can be given out, for each quota domain. */
function demandOfDomains({ query, alerts, seriesLink }: Tools): PanelDraft {
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
function domainTable({ query, alerts, rowLink }: Tools): PanelDraft {
  const { trendWindow, ahead, minHistory } = alerts.alerts.GpuCapacityForecast;
  const demand = query.recorded("cluster_domain:fairlead_demand_gpus:sum");
  const daily = query.recorded("cluster_domain:fairlead_demand_gpus:p95");
  const capacity = query.recorded("cluster_domain:fairlead_domain_capacity_gpus:max");
  const trend = filter(
    clampMin(predictLinear(daily, trendWindow, secondsOf(ahead)), 0),
    "and",
    offset(daily, minHistory),
    domainLabels,
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
function unmetDemand({ query, rowLink }: Tools): PanelDraft {
  const known = query.recorded("cluster:fairlead_build_info:max");
  const waited = (causes: readonly string[] | null) => {
    const asked = causes === null ? {} : { cause: oneOf(causes) };
    const gpus = query.without("team").sum("fairlead_queue_waiting_gpus", domainLabels, asked);
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

/** Teams by how many GPUs more they held than the week before. */
function movers({ query, currency, money, rowLink }: Tools): PanelDraft {
  type OfTeam = Expression<"cluster" | "team">;
  const by = ["cluster", "team"] as const;
  const known = query.recorded("cluster:fairlead_build_info:max");
  const allocated = query.sum("fairlead_team_gpus", by);
  const now = meanOver(allocated, known, week);
  const before = meanOver(allocated, known, week, week);
  // A team without series held nothing, if Fairlead ran: 0 then, and not unknown.
  const ran = (ago: typeof week | undefined) => arithmetic(meanOver(known, known, week, ago), "*", 0);
  const none = (other: OfTeam, ago: typeof week | undefined) =>
    arithmeticWithOne(arithmetic(other, "*", 0), "+", ran(ago), ["cluster"]);
  const thisWeek: OfTeam = union(now, none(before, undefined));
  const weekBefore: OfTeam = union(before, none(now, week));
  const idle = query.sum("fairlead_team_gpus", by, { state: "idle" });
  const cost = aggregate(
    "sum",
    query.recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum", { currency }),
    by,
  );
  return table({
    title: "Who holds more or less than a week ago?",
    meaning: `GPUs allocated to each team as a mean of the last 7 days, the difference to the 7 days before, how many of them were idle, and what it was charged, in ${currency}. Ask those at the top what comes, and those at the bottom what they need no more.`,
    size: [24, 10],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "GPUs", query: thisWeek, unit: units.gpus, decimals: 1 },
      { title: "Before", query: weekBefore, unit: units.gpus, decimals: 1 },
      { title: "Change", query: arithmetic(thisWeek, "-", weekBefore), unit: units.gpusMoreOrLess, decimals: 1 },
      { title: "Idle", query: meanOver(idle, known, week), unit: units.gpus, decimals: 1 },
      { title: "Charged", query: charged(cost, undefined), unit: money },
      { title: "Charged before", query: charged(cost, week), unit: money },
    ],
    sortBy: "Change",
    noValue: "–",
    widths: { Cluster: 110, GPUs: 105, Before: 105, Change: 105, Idle: 100, Charged: 105, "Charged before": 135 },
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team" }) },
  });

  function charged(perHour: OfTeam, ago: typeof week | undefined): OfTeam {
    return arithmetic(meanOver(perHour, known, week, ago), "*", 168);
  }
}

/** Recommendations of a week, by what became of them. */
function outcomes({ query, page }: Tools): PanelDraft {
  const by = ["cluster", "kind"] as const;
  const all = query.sum("fairlead_recommendations", by);
  // What closed in 24 hours, looked at once a day.
  const closed = (state: "taken" | "expired" | "dismissed") =>
    orZero(sumOfDays(query.sum("fairlead_recommendations", by, { state }), week), all);
  return table({
    title: "What became of advice?",
    meaning:
      "Recommendations of each kind that are open, and those that closed in the last seven whole days (UTC): taken, no longer true, or dismissed. Kinds that are dismissed again and again should be turned off or tuned.",
    size: [14, 12],
    labels: { kind: "Kind", cluster: "Cluster" },
    values: [
      { title: "Open", query: query.sum("fairlead_recommendations", by, { state: "open" }), unit: units.count },
      { title: "Taken", query: closed("taken"), unit: units.count },
      { title: "Expired", query: closed("expired"), unit: units.count },
      { title: "Dismissed", query: closed("dismissed"), unit: units.count },
    ],
    sortBy: "Open",
    noValue: "–",
    widths: { Cluster: 90, Open: 75, Taken: 80, Expired: 85, Dismissed: 100 },
    links: { kind: page("/recommendations", "Which are they?") },
  });
}

function questions(reviewUrl: string) {
  return text({
    title: "What do we decide today?",
    size: [10, 12],
    markdown: [
      "1. **Is there enough?** Where demand passes capacity in the next weeks: take waste back first, move quota, or buy? Who asks for what, and until when?",
      "2. **Who gives back what?** Idle GPUs by team above: which of them go today, and which stay, with whose name beside the reason?",
      "3. **Which recommendations do we take?** One owner for each, or dismissed with a reason. What became of those of last week?",
      "",
      `All numbers compare the 7 days before the end of the time range with the 7 days before these; the time range moves their end only. Numbers without a team's or a domain's name are of all. [The review in Fairlead](${reviewUrl}) has the same week from its own accounts, with waits and jobs.`,
    ].join("\n"),
  });
}
