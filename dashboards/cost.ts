import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, arithmetic, type Expression, filter, oneOf, topk, where } from "../exporter/catalogue/promql.ts";
import type { GpuState } from "../exporter/model/gpuStates.ts";
import { budgetsNow, budgetTable } from "./costBudgets.ts";
import { agingPrices, method, prices } from "./costPrices.ts";
import { collapsedRow, type DashboardDefinition, opening, row, type Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import { stateColours } from "./panel/colours.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { hours, hoursOver, looksIn, looksOver, meanOver, riseOver } from "./query/overTime.ts";
import { partOf } from "./query/queries.ts";

/** The dashboard of what GPUs cost, who is charged for it, and how far budgets last. */
export const cost: DashboardDefinition = {
  name: "cost",
  title: "Fairlead: cost and chargeback",
  description: "What do the GPUs cost, who pays for them, and will the budgets last?",
  variables: ["team", "pool"],
  from: "now-30d",
  refresh: "1h",
  sections: (tools) => [
    opening(...budgetsNow(tools), ...now(tools), costOfTeams(tools)),
    row("Who is charged, and will budgets last?", chargeback(tools), budgetTable(tools), workloads(tools)),
    collapsedRow("What is paid for?", costOfPools(tools), prices(tools), agingPrices(tools), method(tools)),
  ],
};

/** Part of a span that must be known before it is compared with another. */
const knownEnough = 0.95;

/** What each team held in the time range, what it did with it, and what it is charged. */
function chargeback({ query, currency, money, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "team"] as const;
  // The charge of a team is only known for all pools together.
  const ofAll = query.without("pool");
  const held = riseOver(ofAll.recorded("cluster_team_pool_state:fairlead_team_gpus:sum"), "$__range");
  const allocated = hoursOver(ofAll.recorded("cluster_team:fairlead_allocated_gpus:sum"), "$__range");
  const judged = riseOver(ofAll.recorded("cluster_team_pool:fairlead_judged_gpus:sum"), "$__range");
  const busy = riseOver(ofAll.recorded("cluster_team_pool:fairlead_busy_gpus:sum"), "$__range");
  const idle = orZero(riseOver(ofAll.recorded("cluster_team_pool:fairlead_idle_gpus:sum"), "$__range"), judged);
  const charge = ofAll.recorded("cluster_team_currency:fairlead_cost:sum10m", { currency });
  const amount: Expression<(typeof by)[number]> = aggregate("sum", riseOver(charge, "$__range"), by);
  const running = ofAll.recorded("cluster:fairlead_replicas:max");
  const enough = where(looksOver(running, "$__range", "$__range"), ">", looksIn(knownEnough));
  const earlier = aggregate("sum", filter(riseOver(charge, "$__range", "$__range"), "and", enough, ["cluster"]), by);
  return table({
    title: "Chargeback, by team",
    meaning: `GPU-hours allocated to each team in the time range, of all pools; the busy and the idle part; the amount in ${currency} by allocation, what that is for a GPU-hour, and the amount of as long a time before, where that is known. Seen every 10 minutes: Fairlead's API has the exact accounts.`,
    size: [24, 10],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "Allocated", query: hours(aggregate("sum", held, by)), unit: units.gpuHours },
      { title: "Busy", query: hours(aggregate("sum", busy, by)), unit: units.gpuHours },
      { title: "Idle, allocated", query: hours(aggregate("sum", idle, by)), unit: units.gpuHours },
      { title: "A GPU-hour", query: partOf(amount, allocated), unit: money, decimals: 2 },
      { title: "Amount", query: amount, unit: money },
      { title: "Before", query: earlier, unit: money },
    ],
    nonZero: ["Allocated", "Amount", "Before"],
    sortBy: "Amount",
    empty: "no team held GPUs",
    widths: {
      Cluster: 110,
      Allocated: 120,
      Busy: 120,
      "Idle, allocated": 115,
      "A GPU-hour": 110,
      Amount: 110,
      Before: 110,
    },
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team" }) },
  });
}

function now({ query, currency, money, seriesLink }: Tools): readonly PanelDraft[] {
  const noValue = `no ${currency} price`;
  const all = query.sum("fairlead_cost_per_hour", ["cluster"], { currency });
  const idle = query.recorded("cluster_pool_currency:fairlead_workless_cost:sum", { currency });
  const paid = query.recorded("cluster_pool_state_currency:fairlead_cost_per_hour:sum", { currency });
  const priced = query.recorded("cluster_pool_currency:fairlead_priced_gpus:sum", { currency });
  const nobodys = query.sum("fairlead_unallocated_cost_per_hour", ["cluster"], { currency });
  return [
    stat({
      title: "Cost per day",
      meaning: `What all GPUs would cost in 24 hours as they are now, used or not, in ${currency}; those without a price are left out. It covers the whole fleet: teams are charged only for what they hold.`,
      unit: money,
      noValue,
      shows: [shows(arithmetic(aggregate("sum", all), "*", 24), "a day")],
      links: [seriesLink("review", "Is it more than last week?", {})],
    }),
    stat({
      title: "Cost without work",
      meaning:
        "Part of the cost of the time range for GPUs that were free, idle, starting, waiting for a gang, or not usable. What nobody saw is not in it. The waste dashboard says whose it is.",
      unit: units.ratio,
      kind: "now",
      noValue,
      shows: [
        shows(
          partOf(aggregate("sum", riseOver(idle, "$__range")), aggregate("sum", riseOver(paid, "$__range"))),
          "Without work",
        ),
      ],
      links: [seriesLink("waste", "Where is the waste?", {})],
    }),
    stat({
      title: "Price of a GPU-hour",
      meaning: `Mean price of an hour of all GPUs that have a price in ${currency}, used or not. It moves with the mix of models and of spot and on-demand nodes.`,
      unit: money,
      decimals: 2,
      noValue,
      shows: [shows(partOf(aggregate("sum", all), aggregate("sum", priced)), "a GPU-hour")],
      links: [seriesLink("cost", "Which prices are these?", {})],
    }),
    stat({
      title: "Cost of free GPUs a day",
      meaning: `What GPUs that nobody holds would cost in 24 hours, in ${currency}: free, on idle or cordoned nodes, or not usable. No team is charged for it; scale in, or let work in.`,
      unit: money,
      noValue,
      shows: [shows(arithmetic(aggregate("sum", nobodys), "*", 24), "a day")],
      links: [seriesLink("waste", "Which nodes are idle?", {})],
    }),
  ];
}

/** The main panel of the page: what each team costs over time. */
function costOfTeams({ query, currency, money, seriesLink }: Tools): PanelDraft {
  const perHour = query.recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum", { currency });
  const of: Expression<"cluster" | "team"> = aggregate("sum", perHour, ["cluster", "team"]);
  const known = query.recorded("cluster:fairlead_build_info:max");
  return timeSeries({
    title: "Cost per day, by team",
    meaning: `What each team is charged for 24 hours, in ${currency}: at each point the mean of the 24 hours before it. A rise that nobody announced is worth a question while it is young.`,
    unit: money,
    style: "area",
    noValue: `no ${currency} price`,
    size: [24, 9],
    shows: [shows(arithmetic(meanOver(of, known, "1d"), "*", 24), "{{team}} ({{cluster}})")],
    links: [seriesLink("team", "What does this team have?", { cluster: "cluster", team: "team" })],
  });
}

function workloads({ query, currency, money, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "team", "namespace", "workload"] as const;
  const perHour = query.sum("fairlead_workload_cost_per_hour", by, { currency });
  return table({
    title: "Workloads that cost most per day",
    meaning: `The eight workloads that hold most, by what that costs in 24 hours, in ${currency}, used or not. Ask of the first ones whether they still need all of it.`,
    size: [24, 10],
    labels: { workload: "Workload", namespace: "Namespace", team: "Team", cluster: "Cluster" },
    values: [{ title: "A day", query: topk(8, arithmetic(perHour, "*", 24)), unit: money }],
    sortBy: "A day",
    widths: { Namespace: 160, Team: 150, Cluster: 120, "A day": 120 },
    empty: "no workload has a price",
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team" }) },
  });
}

function costOfPools({ query, currency, money, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "pool"] as const;
  const busy = query.recorded("cluster_pool_currency:fairlead_busy_cost_per_hour:sum", { currency });
  const of = (...states: readonly GpuState[]) =>
    hoursOver(query.sum("fairlead_cost_per_hour", by, { currency, state: oneOf(states) }), "$__range");
  return barChart({
    title: "Cost by pool and what GPUs did",
    meaning: `What the GPUs of each pool cost in the time range by what they were doing, in ${currency}. Long amber parts are allocated and idle: they go away when teams let go, the free ones when nodes do.`,
    unit: money,
    stack: "normal",
    noValue: `no ${currency} price`,
    size: [24, 8],
    labels: { pool: "Pool", cluster: "Cluster" },
    along: "pool",
    values: [
      { title: "Busy", query: hoursOver(aggregate("sum", busy, by), "$__range"), unit: money },
      { title: "Hardly used", query: of("underutilized"), unit: money },
      { title: "Idle, allocated", query: of("idle"), unit: money },
      { title: "Stalled", query: of("stalled"), unit: money },
      { title: "Starting", query: of("starting", "gang_wait"), unit: money },
      { title: "Free", query: of("free", "idle_node"), unit: money },
      { title: "Not usable", query: of("unavailable", "cordoned"), unit: money },
      { title: "Unknown", query: of("unobserved", "unattributed"), unit: money },
    ],
    colours: stateColours,
    links: [rowLink("waste", "What is wasted here?", { cluster: "cluster", pool: "pool" })],
  });
}
