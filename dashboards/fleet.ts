import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, arithmetic, type Expression, oneOf } from "../exporter/catalogue/promql.ts";
import { smallest, sorted } from "../exporter/catalogue/promqlSeries.ts";
import { type GpuState, observedStates } from "../exporter/model/gpuStates.ts";
import { adviceTable } from "./adviceTable.ts";
import { collapsedRow, type DashboardDefinition, opening, type Tools } from "./dashboard.ts";
import { fleetHealth } from "./fleetHealth.ts";
import { barGauge } from "./panel/barGauge.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { doubtfulBelow, limit, limitOf, worseAbove, worseBelow, worseOutside } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { stateTimeline } from "./panel/stateTimeline.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { partOf } from "./query/queries.ts";
import { absentCapacity } from "./queueShortfalls.ts";
import { believed } from "./trust.ts";

/** The first dashboard: which GPUs there are, which are used, who has how many, and what to do about it. */
export const fleet: DashboardDefinition = {
  name: "fleet",
  title: "Fairlead: fleet overview",
  description: "Are we using the GPUs that we pay for, and are they shared fairly?",
  variables: ["pool"],
  from: "now-24h",
  refresh: "1m",
  sections: (tools) => [
    opening(...headline(tools), shareOfTeams(tools), whatGpusDo(tools), recommendations(tools), pressure(tools)),
    collapsedRow("Capacity by pool", poolTable(tools), lostNodes(tools), gpusByPool(tools), absentCapacity(tools)),
    collapsedRow("Which GPUs are sick?", ...fleetHealth(tools)),
    collapsedRow("Can these numbers be believed?", ...believed(tools)),
  ],
};

/** Six numbers over everything that is chosen. */
function headline({ query, alerts, currency, money, seriesLink }: Tools): readonly PanelDraft[] {
  const all = aggregate("sum", query.sum("fairlead_gpus", ["cluster"]));
  const allocated = aggregate("sum", query.recorded("cluster_pool:fairlead_allocated_gpus:sum"));
  const busy = aggregate("sum", query.sum("fairlead_gpus", ["cluster"], { state: "active" }));
  const judged = query.sum("fairlead_gpus", ["cluster"], {
    state: oneOf(observedStates),
  });
  const idleCost = query.sum("fairlead_cost_per_hour", ["cluster"], { state: "idle", currency });
  const open = orZero(
    query.sum("fairlead_recommendations", ["cluster"], { state: "open" }),
    query.recorded("cluster:fairlead_build_info:max"),
  );
  return [
    stat({
      title: "GPUs in all",
      meaning:
        "Physical GPUs of all nodes, usable or not. A drop means that nodes have gone: the row of capacity below says in which pool.",
      unit: units.gpus,
      decimals: 0,
      kind: "now",
      size: [8, 3],
      shows: [shows(all, "GPUs")],
      links: [seriesLink("review", "Is there enough of them?", {})],
    }),
    stat({
      title: "GPUs allocated",
      meaning:
        "Part of the GPUs that pods hold, used or not. Much below all of them while work waits points at quotas or fragmentation.",
      unit: units.ratio,
      kind: "now",
      size: [8, 3],
      shows: [shows(partOf(allocated, all), "Allocated")],
      links: [seriesLink("fairness", "Who holds them, and who waits?", {})],
    }),
    stat({
      title: "Busy part of allocated GPUs",
      meaning:
        "Active part of the allocated GPUs whose activity is known; starting and waiting ones are left out. Where it is low, look at who holds idle GPUs.",
      unit: units.ratio,
      levels: worseBelow(limit(0.7, "watch"), limit(0.4, "act")),
      // A ratio of what was last allocated long ago is of no interest.
      kind: "now",
      size: [8, 3],
      shows: [shows(partOf(busy, aggregate("sum", judged)), "Busy")],
      links: [seriesLink("waste", "Who holds idle GPUs?", {})],
    }),
    stat({
      title: "Cost of idle GPUs, per day",
      meaning: `What GPUs that are allocated and idle now would cost in 24 hours, in ${currency}; those without a price are left out. Ask the teams with the most of them to let go.`,
      unit: money,
      noValue: `no ${currency} price`,
      kind: "now",
      size: [8, 3],
      shows: [shows(arithmetic(aggregate("sum", idleCost), "*", 24), "a day")],
      links: [seriesLink("cost", "What does each team cost?", {})],
    }),
    stat({
      title: "Worst-off team, part of its share",
      meaning:
        "The team that holds least of what it is entitled to now, of all its quota domains, and how much that is: 100 % is its share. A low number means that its work waits while others hold more.",
      unit: units.ratio,
      levels: doubtfulBelow(...limitOf(alerts, "GpuTeamStarved", ({ allocatedBelow }) => allocatedBelow)),
      kind: "now",
      text: "both",
      noValue: "no shares known",
      size: [8, 3],
      shows: [
        shows(smallest(query.recorded("cluster_team:fairlead_allocated_of_entitled:ratio")), "{{team}} ({{cluster}})"),
      ],
      links: [seriesLink("fairness", "Who is short, and why?", {})],
    }),
    stat({
      title: "Open recommendations",
      meaning:
        "Open recommendations: changes that Fairlead has checked in a simulation. None is good; the table below has the ones that gain most.",
      unit: units.count,
      kind: "now",
      size: [8, 3],
      shows: [shows(aggregate("sum", open), "Recommendations")],
      links: [seriesLink("review", "What became of earlier ones?", {})],
    }),
  ];
}

function shareOfTeams({ query, alerts, seriesLink }: Tools): PanelDraft {
  const held = query.recorded("cluster_team:fairlead_allocated_of_entitled:ratio");
  return barGauge({
    title: "GPUs over share, by team",
    meaning:
      "GPUs that each team holds over those that it is entitled to now, of all its quota domains: at 1 it has its share. A team far below 1 whose work waits is starved; see who holds more.",
    unit: units.times,
    max: 2,
    levels: worseOutside(
      limitOf(alerts, "GpuTeamStarved", ({ allocatedBelow }) => allocatedBelow),
      limitOf(alerts, "GpuTeamAboveFairShare", ({ allocatedAbove }) => allocatedAbove),
    ),
    noValue: "no shares known",
    size: [8, 8],
    shows: [shows(sorted(held, "smallest"), "{{team}} ({{cluster}})")],
    links: [seriesLink("team", "What does this team have?", { cluster: "cluster", team: "team" })],
  });
}

/** The main panel of the page: what all GPUs do, at any time. */
function whatGpusDo({ query, seriesLink }: Tools): PanelDraft {
  const all = aggregate("sum", query.sum("fairlead_gpus", ["cluster"]));
  const inStates = (...states: readonly GpuState[]): Expression<never> =>
    aggregate("sum", query.sum("fairlead_gpus", ["cluster"], { state: oneOf(states) }));
  const stranded = aggregate("sum", query.recorded("cluster_pool:fairlead_stranded_gpus:sum"));
  const free = aggregate("sum", query.recorded("cluster_pool:fairlead_usable_free_gpus:sum"));
  const part = (of: Expression<never>): Expression<never> => partOf(of, all);
  return timeSeries({
    title: "GPUs by what they do",
    meaning:
      "Each GPU as one part of all. Busy should be most of it. Idle ones can be taken back, stalled ones look busy and compute nothing, free ones can be used at once, and stranded ones only after work is moved; unknown ones have no telemetry.",
    unit: units.ratio,
    style: "area",
    size: [16, 8],
    shows: [
      shows(part(inStates("active")), "Busy", "good"),
      shows(part(inStates("underutilized")), "Hardly used", "third"),
      shows(part(inStates("idle")), "Idle, allocated", "watch"),
      shows(part(inStates("stalled")), "Stalled", "worse"),
      shows(part(inStates("starting", "gang_wait")), "Starting, waiting for a gang", "other"),
      shows(part(free), "Free", "neutral"),
      shows(part(stranded), "Free, no usual pod fits", "fourth"),
      shows(part(inStates("unavailable", "cordoned")), "Not usable", "act"),
      shows(part(inStates("unobserved", "unattributed")), "Unknown", "unknown"),
    ],
    links: [seriesLink("waste", "Where is the waste?", {})],
  });
}

function recommendations(tools: Tools): PanelDraft {
  return adviceTable(tools, {
    title: "Recommendations that gain most",
    meaning: `The four open recommendations that gain most GPUs, and what each saves a day in ${tools.currency}. Open one to see its plan, and why it is safe.`,
    size: [14, 8],
    teams: "all",
    count: 4,
    per: "day",
  });
}

function pressure({ query, seriesLink }: Tools): PanelDraft {
  const demand = query.recorded("cluster_domain:fairlead_demand_gpus:sum");
  const capacity = query.recorded("cluster_domain:fairlead_domain_capacity_gpus:max");
  return stateTimeline({
    title: "Demand over capacity, by quota domain",
    meaning:
      "GPUs that work holds or waits for over the GPUs that can be given out, for each quota domain. A domain that is short for days needs more GPUs or less waste; one with free GPUs could take work of others.",
    unit: units.ratio,
    size: [10, 8],
    shows: [shows(partOf(demand, capacity), "{{domain}} ({{cluster}})")],
    states: [
      { from: null, to: 0.8, text: "free capacity", colour: "good" },
      { from: 0.8, to: 1, text: "nearly full", colour: "neutral" },
      { from: 1, to: 1.5, text: "short", colour: "watch" },
      { from: 1.5, to: null, text: "far short", colour: "act" },
    ],
    links: [seriesLink("fairness", "Who waits here?", { cluster: "cluster", domain: "domain" })],
  });
}

function poolTable({ query, alerts, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "pool"] as const;
  const all = query.sum("fairlead_gpus", by);
  return table({
    title: "GPUs by pool",
    meaning:
      "GPUs of each pool: all, allocated, the busy part of the allocated ones, and wholly free ones. Stranded GPUs are free on nodes where no usual pod fits; the largest pod is what one node could take now.",
    size: [24, 8],
    labels: { pool: "Pool", cluster: "Cluster" },
    values: [
      { title: "All", query: all, unit: units.gpus, decimals: 0 },
      {
        title: "Allocated",
        query: orZero(query.recorded("cluster_pool:fairlead_allocated_gpus:sum"), all),
        unit: units.gpus,
      },
      { title: "Busy", query: query.max("fairlead_pool_gpu_utilization_ratio", by), unit: units.ratio, cell: "bar" },
      { title: "Free", query: query.recorded("cluster_pool:fairlead_whole_free_gpus:sum"), unit: units.gpus },
      {
        title: "Stranded",
        query: query.recorded("cluster_pool:fairlead_stranded_gpus:ratio"),
        unit: units.ratio,
        levels: worseAbove(...limitOf(alerts, "GpuFragmentationHigh", ({ strandedAbove }) => strandedAbove)),
      },
      { title: "Largest pod", query: query.max("fairlead_largest_placeable_pod_gpus", by), unit: units.gpus },
    ],
    sortBy: "All",
    empty: "no GPU is known",
    links: { pool: rowLink("waste", "What is wasted here?", { cluster: "cluster", pool: "pool" }) },
  });
}

function lostNodes({ query, alerts }: Tools): PanelDraft {
  return table({
    title: "Nodes lost, by node pool",
    meaning:
      "Nodes with GPUs that are not ready, and GPUs that cannot be used, for each node pool. Look at the nodes' conditions first; a node that stays away costs what it costs.",
    size: [12, 8],
    labels: { node_pool: "Node pool", cluster: "Cluster" },
    values: [
      {
        title: "Not ready",
        query: query.recorded("cluster_node_pool:fairlead_not_ready_nodes:sum"),
        unit: units.nodes,
        levels: worseAbove(...limitOf(alerts, "GpuNodeLost", ({ minNodes }) => minNodes)),
      },
      {
        title: "Not usable",
        query: query.recorded("cluster_node_pool:fairlead_unavailable_gpus:sum"),
        unit: units.gpus,
        levels: worseAbove(...limitOf(alerts, "GpuNodeLost", ({ minGpus }) => minGpus)),
      },
    ],
    nonZero: ["Not ready", "Not usable"],
    sortBy: "Not usable",
    empty: "all nodes are ready",
  });
}

function gpusByPool({ query, seriesLink }: Tools): PanelDraft {
  return timeSeries({
    title: "GPUs by pool, over time",
    meaning:
      "Physical GPUs of each pool. Steps are nodes that came or went; a pool that grows while its GPUs are idle is not short of them.",
    unit: units.gpus,
    decimals: 0,
    style: "area",
    size: [12, 8],
    shows: [shows(query.sum("fairlead_gpus", ["cluster", "pool"]), "{{pool}} ({{cluster}})")],
    links: [seriesLink("waste", "What is wasted here?", { cluster: "cluster", pool: "pool" })],
  });
}
