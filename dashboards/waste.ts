import type { AdviceKindLabel } from "../alerts/alertList.ts";
import { aggregate, arithmetic, type Duration, filter, oneOf, where } from "../exporter/catalogue/promql.ts";
import { offset, seriesOverTime, sorted } from "../exporter/catalogue/promqlSeries.ts";
import type { GpuState } from "../exporter/model/gpuStates.ts";
import { adviceTable } from "./adviceTable.ts";
import { collapsedRow, type DashboardDefinition, opening, row, type Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import { barGauge } from "./panel/barGauge.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { hoursOver, riseOver } from "./query/overTime.ts";
import { partOf } from "./query/queries.ts";
import { believed } from "./trust.ts";
import { blockedWork, placeablePods, strandedGpus, strandedOverTime } from "./wasteFragments.ts";
import { topology } from "./wasteTopology.ts";
import { poolWork } from "./wasteWork.ts";

/**
 * The dashboard of GPUs that are paid for and do no work: allocated and idle ones, idle nodes, and free GPUs that no pod fits
 * on.
 */
export const waste: DashboardDefinition = {
  name: "waste",
  title: "Fairlead: waste",
  description: "Which GPUs do no work, who can change that, and what does it cost?",
  variables: ["team", "pool"],
  from: "now-24h",
  refresh: "5m",
  sections: (tools) => [
    opening(...headline(tools), waterfall(tools)),
    row(
      "Who holds GPUs and does not use them?",
      idleTable(tools),
      idleDurations(tools),
      idleCost(tools),
      advice(tools),
    ),
    row(
      "Which nodes are idle, and what does not fit on free GPUs?",
      idleNodes(tools),
      strandedGpus(tools),
      blockedWork(tools),
    ),
    collapsedRow(
      "How has it come about?",
      idleOverTime(tools),
      strandedOverTime(tools),
      placeablePods(tools),
      poolWork(tools),
    ),
    collapsedRow("Which gangs fit within one rack or another level of the topology?", ...topology(tools)),
    collapsedRow("Can these numbers be believed?", ...believed(tools)),
  ],
};

function headline({ query, alerts, currency, money, seriesLink, page }: Tools): readonly PanelDraft[] {
  const idle = query.recorded("cluster_team_pool:fairlead_idle_gpus:sum");
  const cost = query.recorded("cluster_team_currency:fairlead_idle_cost:increase1d", { currency });
  return [
    stat({
      title: "Idle GPUs",
      meaning:
        "GPUs that the chosen teams hold and have not used for the whole idle window. A few are normal between two runs; what stays idle for hours should be given back.",
      unit: units.gpus,
      noValue: "none allocated",
      shows: [shows(aggregate("sum", idle), "Idle")],
      links: [page("/recommendations", "Which pods should go?")],
    }),
    stat({
      title: "Cost of idle GPUs, 24 h",
      meaning: `What allocated and idle GPUs cost in the last 24 hours, in ${currency}; those without a price are left out. The table below says whose they are.`,
      unit: money,
      noValue: `no ${currency} price`,
      shows: [shows(aggregate("sum", cost), "24 hours")],
      links: [seriesLink("cost", "What does each team cost?", {})],
    }),
    stat({
      title: "Stranded, worst pool",
      meaning:
        "Of the pool where it is worst: part of the wholly free GPUs on nodes where no usual pod fits, for want of CPU, memory or more free GPUs. Where it is high, move small pods together.",
      unit: units.ratio,
      levels: worseAbove(...limitOf(alerts, "GpuFragmentationHigh", ({ strandedAbove }) => strandedAbove)),
      noValue: "nothing free",
      shows: [shows(aggregate("max", query.recorded("cluster_pool:fairlead_stranded_gpus:ratio")), "Worst pool")],
      links: [page("/recommendations", "Which moves would help?")],
    }),
    stat({
      title: "Largest pod that fits",
      meaning:
        "Whole GPUs of the largest pod that one node could take now, with its usual CPU and memory. If jobs of 8 wait while this is less, free GPUs are in the wrong places.",
      unit: units.gpus,
      decimals: 0,
      shows: [shows(aggregate("max", query.max("fairlead_largest_placeable_pod_gpus", ["cluster"])), "Largest pod")],
      links: [seriesLink("fairness", "Which work waits?", {})],
    }),
  ];
}

/** All GPU time and what became of it: the columns after the first add up to the first. */
function waterfall({ query, rowLink }: Tools): PanelDraft {
  const hours = (states: readonly GpuState[] | null) => {
    const asked = states === null ? {} : { state: oneOf(states) };
    const rise = query.recorded("cluster_team_pool_state:fairlead_gpu_seconds:increase10m", asked);
    return arithmetic(riseOver(aggregate("sum", rise, ["cluster"]), "$__range"), "/", 3600);
  };
  const all = hours(null);
  const inStates = (...states: readonly GpuState[]) => hours(states);
  return barChart({
    title: "GPU-hours by what became of them",
    meaning:
      "GPU-hours of the time range: all, and what became of them; the bars after the first add up to it. With chosen teams only what was allocated to these. Begin with the tallest bar that is not busy: idle and stalled belong to teams, free and not usable to the platform; starting ones include those that wait for the rest of a gang. Time that Fairlead did not see is in none.",
    unit: units.gpuHours,
    size: [24, 9],
    orientation: "vertical",
    labels: { cluster: "Cluster" },
    along: "cluster",
    values: [
      { title: "All", query: all, unit: units.gpuHours },
      { title: "Not usable", query: inStates("unavailable", "cordoned"), unit: units.gpuHours },
      { title: "Free", query: inStates("free", "idle_node"), unit: units.gpuHours },
      { title: "Starting", query: inStates("starting", "gang_wait"), unit: units.gpuHours },
      { title: "Idle, allocated", query: inStates("idle"), unit: units.gpuHours },
      { title: "Stalled", query: inStates("stalled"), unit: units.gpuHours },
      { title: "Hardly used", query: inStates("underutilized"), unit: units.gpuHours },
      { title: "Unknown", query: inStates("unobserved", "unattributed"), unit: units.gpuHours },
      { title: "Busy", query: inStates("active"), unit: units.gpuHours },
    ],
    colours: {
      All: "neutral",
      "Not usable": "act",
      Free: "fourth",
      Starting: "other",
      "Idle, allocated": "watch",
      Stalled: "worse",
      "Hardly used": "third",
      Unknown: "unknown",
      Busy: "good",
    },
    links: [rowLink("review", "Is it better than last week?", { cluster: "cluster" })],
  });
}

function idleTable({ query, alerts, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "team", "pool"] as const;
  const allocated = query.sum("fairlead_team_gpus", by);
  const idle = query.recorded("cluster_team_pool:fairlead_idle_gpus:sum");
  return table({
    title: "Idle GPUs, by team and pool",
    meaning:
      "GPUs that each team holds of each pool and does not use, now and in the time range. Ask those at the top first; Fairlead's recommendations name the pods, and the label that opts out of being called idle.",
    size: [24, 11],
    labels: { team: "Team", pool: "Pool", cluster: "Cluster" },
    values: [
      {
        title: "Idle now",
        query: idle,
        unit: units.gpus,
        levels: worseAbove(...limitOf(alerts, "GpuIdleAllocated", ({ minIdleGpus }) => minIdleGpus)),
      },
      { title: "Allocated", query: allocated, unit: units.gpus },
      { title: "Idle part", query: partOf(idle, allocated), unit: units.ratio, cell: "bar" },
      { title: "Idle in range", query: hoursOver(idle, "$__range"), unit: units.gpuHours },
    ],
    nonZero: ["Idle now", "Idle in range"],
    sortBy: "Idle now",
    empty: "no team holds idle GPUs",
    widths: { Pool: 160, Cluster: 100, "Idle now": 105, Allocated: 105, "Idle part": 120, "Idle in range": 120 },
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team", pool: "pool" }) },
  });
}

/** How long GPUs have been idle: the number of those that were idle during all of each window. */
function idleDurations({ query, page }: Tools): PanelDraft {
  const idle = query.recorded("cluster_team:fairlead_idle_gpus:sum");
  const by = ["cluster", "team"] as const;
  // If there is no number from the beginning of the window, the result is unknown.
  const throughout = (window: Duration) =>
    aggregate("sum", filter(seriesOverTime("min", idle, window), "and", offset(idle, window), by), by);
  return table({
    title: "Idle GPUs by how long, by team",
    meaning:
      "Of the GPUs that each team holds and does not use now, as many as were idle at every moment of the last hour, day and week. Those of a day or a week are forgotten; Fairlead's recommendations name the pods, and since when each is idle.",
    size: [12, 8],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "Now", query: aggregate("sum", idle, by), unit: units.gpus },
      { title: "For 1 h", query: throughout("1h"), unit: units.gpus },
      { title: "For 24 h", query: throughout("1d"), unit: units.gpus },
      { title: "For 7 days", query: throughout("7d"), unit: units.gpus },
    ],
    nonZero: ["Now"],
    sortBy: "Now",
    empty: "no team holds idle GPUs",
    widths: { Cluster: 90, Now: 90, "For 1 h": 90, "For 24 h": 90, "For 7 days": 100 },
    links: { team: page("/recommendations", "Which pods, and since when?") },
  });
}

function idleOverTime({ query, seriesLink }: Tools): PanelDraft {
  const idle = query.recorded("cluster_team_pool_reason:fairlead_idle_gpus:mean10m");
  const gpus = where(aggregate("sum", idle, ["cluster", "team", "reason"]), ">", 0);
  return timeSeries({
    title: "Idle GPUs, by team and reason",
    meaning:
      "Allocated and idle GPUs of each team, in the mean of ten minutes, by why they are idle: no-activity, nothing runs on them; no-requests, their server has had no request for two hours, whatever its kernels do; asleep, likewise, with its weights off the GPU. A hump every night is work that ends and does not let go; a flat line of no-activity is forgotten, one of no-requests can be scaled down.",
    unit: units.gpus,
    style: "area",
    size: [24, 8],
    shows: [shows(gpus, "{{team}}, {{reason}} ({{cluster}})")],
    links: [seriesLink("team", "What does this team have?", { cluster: "cluster", team: "team" })],
  });
}

function idleCost({ query, alerts, currency, money, seriesLink }: Tools): PanelDraft {
  const cost = query.recorded("cluster_team_currency:fairlead_idle_cost:increase1d", { currency });
  return barGauge({
    title: "Cost of idle GPUs in 24 h, by team",
    meaning: `What allocated and idle GPUs of each team cost in the last 24 hours, in ${currency}. Above the limit, talk to the team's lead before the next day costs as much.`,
    unit: money,
    levels: worseAbove(...limitOf(alerts, "GpuIdleExpensive", ({ perDayAbove }) => perDayAbove)),
    noValue: `no ${currency} price`,
    size: [12, 8],
    shows: [
      shows(sorted(where(aggregate("sum", cost, ["cluster", "team"]), ">", 0), "largest"), "{{team}} ({{cluster}})"),
    ],
    links: [seriesLink("cost", "What does this team cost?", { cluster: "cluster", team: "team" })],
  });
}

/** Kinds of recommendations that reclaim GPUs that are allocated or free, but not used. */
const againstWaste: readonly AdviceKindLabel[] = ["release_idle", "right_size", "share_gpu", "scale_in", "defragment"];

function advice(tools: Tools): PanelDraft {
  return adviceTable(tools, {
    title: "Recommendations against waste",
    meaning: `The ten open recommendations against waste that gain most GPUs, and what each saves a week in ${tools.currency}. Open one to see the pods or nodes, the plan, and why it is safe.`,
    size: [24, 8],
    kinds: againstWaste,
    teams: "from",
    count: 10,
    per: "week",
  });
}

function idleNodes({ query, currency, money, page, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "node_pool", "pool", "idle_kind"] as const;
  const cold = { warm_pool: "false" } as const;
  return table({
    title: "Idle nodes, by node pool",
    meaning:
      "Nodes with GPUs that do nothing, by why: unallocated (nothing holds a GPU) or allocated (all that is allocated is idle); nodes kept warm on purpose are left out. Unallocated ones can be scaled in, on the others teams must let go first. No series has a name of a node: the link at a reason leads to the list of their names in Fairlead.",
    size: [24, 10],
    labels: { node_pool: "Node pool", pool: "Pool", idle_kind: "Why", cluster: "Cluster" },
    values: [
      {
        title: "In 24 hours",
        query: query.sum("fairlead_idle_node_hours", by, { ...cold, window: "24h" }),
        unit: units.nodeHours,
        decimals: 1,
      },
      { title: "Now", query: query.sum("fairlead_idle_nodes", by, cold), unit: units.nodes },
      { title: "Longest", query: query.max("fairlead_idle_node_longest_seconds", by, cold), unit: units.wait },
      {
        title: "Cost an hour",
        query: query.sum("fairlead_idle_node_cost_per_hour", by, { ...cold, currency }),
        unit: money,
      },
    ],
    nonZero: ["Now", "In 24 hours"],
    sortBy: "In 24 hours",
    empty: "no node is idle",
    widths: { Pool: 160, Why: 110, Cluster: 110, "In 24 hours": 115, Now: 90, Longest: 110, "Cost an hour": 115 },
    links: {
      node_pool: rowLink("fleet", "What does the fleet have?", { cluster: "cluster", pool: "pool" }),
      idle_kind: page(`/nodes?idle=\${__data.fields.idle_kind:percentencode}`, "Names of these nodes, in Fairlead"),
    },
  });
}
