import { aggregate, arithmetic, type Expression, oneOf } from "../exporter/catalogue/promql.ts";
import { labelled, union } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import { stateColours } from "./panel/colours.ts";
import type { PanelDraft, ValueLink } from "./panel/draft.ts";
import { type Levels, limit, worseBelow } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { type Unit, units } from "./panel/units.ts";
import { at, meanOver } from "./query/overTime.ts";
import { partOf } from "./query/queries.ts";

export const week = "7d";
const hoursOfWeek = 168;
type Ago = typeof week | undefined;
type OfCluster = Expression<"cluster">;

/** Eight numbers, each of the last 7 days and of the 7 days before. */
export function weekAgainstWeek(tools: Tools): readonly PanelDraft[] {
  const { currency, money, seriesLink, page } = tools;
  // The headline is of everybody: part of it narrowed by a team, and part not, could not be compared.
  const query = tools.query.without("team", "domain");
  const known = query.recorded("cluster:fairlead_build_info:max");
  const mean = (of: OfCluster, ago: Ago) => meanOver(of, known, week, ago);
  const all = query.sum("fairlead_gpus", ["cluster"]);
  const allocated: OfCluster = aggregate("sum", query.recorded("cluster_pool:fairlead_allocated_gpus:sum"), [
    "cluster",
  ]);
  const busy = query.sum("fairlead_gpus", ["cluster"], { state: "active" });
  const judged = query.sum("fairlead_gpus", ["cluster"], {
    state: oneOf(["active", "underutilized", "idle", "stalled"]),
  });
  const waiting: OfCluster = aggregate("sum", query.recorded("cluster_domain:fairlead_queue_pending_gpus:sum"), [
    "cluster",
  ]);
  const paid = query.sum("fairlead_cost_per_hour", ["cluster"], { currency });
  const idlePaid = query.sum("fairlead_cost_per_hour", ["cluster"], { currency, state: "idle" });
  const wasted = query.sum("fairlead_gpus", ["cluster"], {
    state: oneOf(["idle", "stalled", "underutilized", "gang_wait"]),
  });
  const covered = query.max("fairlead_idle_node_covered_ratio", ["cluster"], { window: "7d" });
  const idleNodes = query.sum("fairlead_idle_node_hours", ["cluster"], {
    idle_kind: "unallocated",
    warm_pool: "false",
    window: "7d",
  });
  const total = (of: OfCluster, ago: Ago) => aggregate("sum", mean(of, ago));
  const aWeek = (of: OfCluster, ago: Ago) => arithmetic(total(of, ago), "*", hoursOfWeek);
  const inReview = page("/review", "What does Fairlead's own review say?");
  return [
    pair({
      title: "How much is known?",
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
      title: "How many are allocated?",
      meaning:
        "Part of all GPUs that was allocated to pods, as a mean of the week. If it falls while work waits, quotas or fragmentation keep work out.",
      unit: units.ratio,
      decimals: 1,
      of: (ago) => partOf(total(allocated, ago), total(all, ago)),
      links: [seriesLink("fairness", "Who holds them, and who waits?", {})],
    }),
    pair({
      title: "How many of them work?",
      meaning:
        "Active part of the allocated GPUs whose activity is known, as a mean of the week. The rest was paid for and not used.",
      unit: units.ratio,
      decimals: 1,
      of: (ago) => partOf(total(busy, ago), total(judged, ago)),
      links: [seriesLink("waste", "Who holds idle GPUs?", {})],
    }),
    pair({
      title: "How many are wasted?",
      meaning:
        "GPUs that are allocated and idle, hardly used, or wait for the rest of a gang, as a mean of the week. This many could be won without buying any.",
      unit: units.gpus,
      decimals: 1,
      of: (ago) => total(wasted, ago),
      links: [seriesLink("waste", "Where is the waste?", {})],
    }),
    pair({
      title: "How long did work wait?",
      meaning:
        "GPUs that eligible work waited for, times how long: demand that was not met. If it grows while GPUs are wasted, take these back before buying.",
      unit: units.gpuHours,
      of: (ago) => aWeek(waiting, ago),
      links: [seriesLink("fairness", "Which queues wait?", {})],
    }),
    pair({
      title: "What did the week cost?",
      meaning: `What all GPUs cost in a week, used or not, in ${currency}; those without a price are left out.`,
      unit: money,
      noValue: `no ${currency} price`,
      of: (ago) => aWeek(paid, ago),
      links: [seriesLink("cost", "Who pays for it?", {})],
    }),
    pair({
      title: "What did idle cost?",
      meaning: `What allocated and idle GPUs cost in a week, in ${currency}; those without a price are left out.`,
      unit: money,
      noValue: `no ${currency} price`,
      of: (ago) => aWeek(idlePaid, ago),
      links: [seriesLink("waste", "Whose idle GPUs cost most?", {})],
    }),
    pair({
      title: "Idle node-hours?",
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
    size: [6, 4],
    shows: [shows(of(undefined), "7 days"), shows(of(week), "before")],
  });
}

/** The picture of the page: all GPUs of both weeks, by what they did. */
export function whatGpusDid({ query, rowLink }: Tools): PanelDraft {
  const whole = query.without("team", "domain");
  const known = whole.recorded("cluster:fairlead_build_info:max");
  const mean = (states: readonly string[], ago: Ago) =>
    meanOver(whole.sum("fairlead_gpus", ["cluster"], { state: oneOf(states) }), known, week, ago);
  const gpus = (...states: readonly string[]) => {
    const both = union(
      labelled(mean(states, undefined), "window", "7 days"),
      labelled(mean(states, week), "window", "before"),
    );
    return aggregate("sum", both, ["window"]);
  };
  const column = (title: string, ...states: readonly string[]) => ({ title, query: gpus(...states), unit: units.gpus });
  return barChart({
    title: "What did the GPUs do, week against week?",
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
