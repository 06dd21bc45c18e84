import { aggregate, arithmetic, type Expression, oneOf } from "../exporter/catalogue/promql.ts";
import { labelled, union } from "../exporter/catalogue/promqlSeries.ts";
import { type GpuState, observedStates } from "../exporter/model/gpuStates.ts";
import type { Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import { stateColours } from "./panel/colours.ts";
import type { PanelDraft, ValueLink } from "./panel/draft.ts";
import { type Levels, limit, worseBelow } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { type Unit, units } from "./panel/units.ts";
import { at } from "./query/overTime.ts";
import { partOf } from "./query/queries.ts";

export const week = "7d";
export const hoursOfWeek = 168;
type Ago = typeof week | undefined;

/** Eight numbers, each of the last 7 days and of the 7 days before. */
export function weekAgainstWeek(tools: Tools): readonly PanelDraft[] {
  const { currency, money, seriesLink, page } = tools;
  // The headline is for all teams and domains: if only some of its numbers could be narrowed, they could not be compared.
  const query = tools.query.without("team", "domain");
  const gpus = (ago: Ago, ...states: readonly GpuState[]) => {
    const asked = states.length === 0 ? {} : { state: oneOf(states) };
    return aggregate("sum", at(query.recorded("cluster_state:fairlead_gpus:mean7d", asked), ago));
  };
  const paid = (ago: Ago, state: { readonly state?: "idle" }) => {
    const perHour = query.recorded("cluster_state_currency:fairlead_cost_per_hour:mean7d", { ...state, currency });
    return arithmetic(aggregate("sum", at(perHour, ago)), "*", hoursOfWeek);
  };
  const covered = query.recorded("cluster_window:fairlead_idle_node_covered_ratio:max", { window: "7d" });
  const idleNodes = query.recorded("cluster_pool_node_pool_idle_kind_warm_pool_window:fairlead_idle_node_hours:sum", {
    idle_kind: "unallocated",
    warm_pool: "false",
    window: "7d",
  });
  const inReview = page("/review", "What does Fairlead's own review say?");
  return [
    pair({
      title: "Week covered",
      meaning:
        "Part of the week that Fairlead saw, of the cluster that it saw least. Below 95 %, read the other numbers as those of the part that it saw.",
      unit: units.ratio,
      decimals: 1,
      levels: worseBelow(limit(0.95, "watch"), limit(0.5, "act")),
      noValue: "unknown",
      of: (ago) => aggregate("min", at(covered, ago)),
      links: [seriesLink("exporter", "What was not seen?", {})],
    }),
    pair({
      title: "GPUs allocated",
      meaning:
        "Part of all GPUs that was allocated to pods, as a mean of the week. If it falls while work waits, quotas or fragmentation keep work out.",
      unit: units.ratio,
      decimals: 1,
      of: (ago) =>
        partOf(aggregate("sum", at(query.recorded("cluster:fairlead_allocated_gpus:mean7d"), ago)), gpus(ago)),
      links: [seriesLink("fairness", "Who holds them, and who waits?", {})],
    }),
    pair({
      title: "Busy part of GPUs",
      meaning:
        "Active part of the allocated GPUs whose activity is known, as a mean of the week. The rest was paid for and not used.",
      unit: units.ratio,
      decimals: 1,
      of: (ago) => partOf(gpus(ago, "active"), gpus(ago, ...observedStates)),
      links: [seriesLink("waste", "Who holds idle GPUs?", {})],
    }),
    pair({
      title: "GPUs wasted",
      meaning:
        "GPUs that are allocated and idle, hardly used, or wait for the rest of a gang, as a mean of the week. This many could be won without buying any.",
      unit: units.gpus,
      decimals: 1,
      of: (ago) => gpus(ago, "idle", "stalled", "underutilized", "gang_wait"),
      links: [seriesLink("waste", "Where is the waste?", {})],
    }),
    pair({
      title: "GPU-hours waited for",
      meaning:
        "GPUs that eligible work waited for, times how long: demand that was not met. If it grows while GPUs are wasted, take these back before buying.",
      unit: units.gpuHours,
      of: (ago) =>
        arithmetic(
          aggregate("sum", at(query.recorded("cluster:fairlead_queue_pending_gpus:mean7d"), ago)),
          "*",
          hoursOfWeek,
        ),
      links: [seriesLink("fairness", "Which queues wait?", {})],
    }),
    pair({
      title: "Cost of the week",
      meaning: `What all GPUs cost in a week, used or not, in ${currency}; those without a price are left out.`,
      unit: money,
      noValue: `no ${currency} price`,
      of: (ago) => paid(ago, {}),
      links: [seriesLink("cost", "Who pays for it?", {})],
    }),
    pair({
      title: "Cost of idle GPUs",
      meaning: `What allocated and idle GPUs cost in a week, in ${currency}; those without a price are left out.`,
      unit: money,
      noValue: `no ${currency} price`,
      of: (ago) => paid(ago, { state: "idle" }),
      links: [seriesLink("waste", "Whose idle GPUs cost most?", {})],
    }),
    pair({
      title: "Idle node-hours",
      meaning:
        "Hours of nodes with GPUs on which no GPU is allocated; nodes kept warm on purpose are left out. Many in a row are nodes to scale in.",
      unit: units.nodeHours,
      of: (ago) => aggregate("sum", at(idleNodes, ago)),
      links: [seriesLink("waste", "Which nodes are idle?", {}), inReview],
    }),
  ];
}

interface Pair {
  readonly title: string;
  readonly meaning: string;
  readonly unit: Unit;
  readonly decimals?: number;
  readonly levels?: Levels;
  readonly noValue?: string;
  readonly of: (ago: Ago) => Expression<never>;
  readonly links: readonly ValueLink[];
}

function pair({ of, ...rest }: Pair): PanelDraft {
  return stat({
    noValue: "unknown",
    ...rest,
    kind: "now",
    shows: [shows(of(undefined), "7 days"), shows(of(week), "before")],
  });
}

/** The main panel of the page: all GPUs of both weeks, by what they did. */
export function whatGpusDid({ query, rowLink }: Tools): PanelDraft {
  const whole = query.without("team", "domain");
  const gpus = (...states: readonly GpuState[]) => {
    const mean = whole.recorded("cluster_state:fairlead_gpus:mean7d", { state: oneOf(states) });
    const both = union(labelled(mean, "window", "7 days"), labelled(at(mean, week), "window", "before"));
    return aggregate("sum", both, ["window"]);
  };
  const column = (title: string, ...states: readonly GpuState[]) => ({
    title,
    query: gpus(...states),
    unit: units.gpus,
  });
  return barChart({
    title: "GPUs by what they did, week against week",
    meaning:
      "All GPUs as a mean of each week, by what they did; the parts add up to all. More green in the upper bar is progress; where amber grows, the waste dashboard says whose it is.",
    unit: units.gpus,
    stack: "normal",
    size: [24, 7],
    labels: { window: "Week" },
    along: "window",
    values: [
      column("Busy", "active"),
      column("Hardly used", "underutilized"),
      column("Idle, allocated", "idle"),
      column("Stalled", "stalled"),
      column("Starting", "starting", "gang_wait"),
      column("Free", "free", "idle_node"),
      column("Not usable", "unavailable", "cordoned"),
      column("Unknown", "unobserved", "unattributed"),
    ],
    colours: stateColours,
    links: [rowLink("waste", "Where is the waste?", {})],
  });
}
