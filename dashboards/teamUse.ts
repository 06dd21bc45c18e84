import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, arithmetic, type Expression, oneOf } from "../exporter/catalogue/promql.ts";
import { type allocatedTimeStates, runningStates } from "../exporter/model/gpuStates.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { heatmap } from "./panel/heatmap.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { hours, riseOver } from "./query/overTime.ts";
import { partOf } from "./query/queries.ts";
import { teamWork } from "./wasteWork.ts";

type State = (typeof allocatedTimeStates)[number];

/** What the GPUs of the team do: all of them over time, when they are busy, and in which pool. */
export function teamUse(tools: Tools): readonly PanelDraft[] {
  return [states(tools), busyTimes(tools), goodput(tools), byPool(tools), teamWork(tools)];
}

/** How far allocated GPU time got: the steps of the review's goodput for which there are series. */
function goodput({ query, page }: Tools): PanelDraft {
  const by = ["cluster", "team"] as const;
  const hoursIn = (states: readonly State[] | null) => {
    const asked = states === null ? {} : { state: oneOf(states) };
    const held = query.recorded("cluster_team_pool_state:fairlead_team_gpus:sum", asked);
    return hours(aggregate("sum", riseOver(held, "$__range"), by));
  };
  // A team that holds nothing now may have gaps where it had 0: a longer query, which would avoid them, would be slower to read.
  const now = query.recorded("cluster_team:fairlead_allocated_gpus:sum");
  const undone = riseOver(query.recorded("cluster_team:fairlead_undone_gpu_seconds:increase10m"), "$__range");
  return table({
    title: "GPU-hours by how far they got",
    meaning:
      "GPU-hours of the time range that were allocated to each team; those of them that ran, not waiting for the rest of a gang, a start or a broken GPU; what evictions and failures of programs undid since the last checkpoint, at most; and the busy part. Begin with the largest step down. Seen every 10 minutes: the review's goodput is exact.",
    size: [24, 7],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "Allocated", query: hoursIn(null), unit: units.gpuHours },
      { title: "Ran", query: hoursIn(runningStates), unit: units.gpuHours },
      {
        title: "Undone",
        query: orZero(aggregate("sum", arithmetic(undone, "/", 3600), by), now),
        unit: units.gpuHours,
      },
      { title: "Busy", query: orZero(hoursIn(["active"]), now), unit: units.gpuHours },
    ],
    nonZero: ["Allocated"],
    sortBy: "Allocated",
    empty: "no team held GPUs",
    links: { team: page("/review", "What does the review say?") },
  });
}

function states({ query, page }: Tools): PanelDraft {
  const inStates = (...of: readonly State[]): Expression<never> =>
    aggregate("sum", query.sum("fairlead_team_gpus", ["cluster"], { state: oneOf(of) }));
  return timeSeries({
    title: "GPUs by what they do",
    meaning:
      "GPUs that the team holds, by what they do. Busy should be most of it. Idle ones have done nothing for long, stalled ones look busy and compute nothing: the recommendations name the work that holds them. Unknown ones have no telemetry.",
    unit: units.gpus,
    style: "area",
    size: [12, 8],
    shows: [
      shows(inStates("active"), "Busy", "good"),
      shows(inStates("underutilized"), "Hardly used", "third"),
      shows(inStates("idle"), "Idle", "watch"),
      shows(inStates("stalled"), "Stalled", "worse"),
      shows(inStates("starting", "gang_wait"), "Starting, waiting for a gang", "other"),
      shows(inStates("unavailable"), "Not usable", "act"),
      shows(inStates("unobserved"), "Unknown", "unknown"),
    ],
    links: [page("/recommendations", "Which work could let go of GPUs?")],
  });
}

function busyTimes({ query, seriesLink }: Tools): PanelDraft {
  return heatmap({
    title: "Busy part of GPUs, by time",
    meaning:
      "Active part of the GPUs that each team holds, over time, by colour as in the scale below. Nights or weekends near 0 % are GPUs that could be lent or let go then; no colour is time in which none was allocated, or nothing is known.",
    unit: units.ratio,
    size: [12, 8],
    rows: "series",
    shows: shows(query.max("fairlead_team_gpu_utilization_ratio", ["cluster", "team"]), "{{team}} ({{cluster}})"),
    links: [seriesLink("waste", "What is idle then?", {})],
  });
}

function byPool({ query, alerts, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "pool"] as const;
  const inStates = (...of: readonly State[]) => query.sum("fairlead_team_gpus", by, { state: oneOf(of) });
  const allocated = query.sum("fairlead_team_gpus", by);
  return table({
    title: "GPUs by pool",
    meaning:
      "GPUs that the team holds in each pool, the busy part of those whose activity is known, idle ones, and ones without telemetry. Begin where most are idle.",
    size: [24, 6],
    labels: { pool: "Pool", cluster: "Cluster" },
    values: [
      { title: "Allocated", query: allocated, unit: units.gpus },
      {
        title: "Busy",
        query: partOf(
          aggregate("sum", query.recorded("cluster_team_pool:fairlead_busy_gpus:sum"), by),
          aggregate("sum", query.recorded("cluster_team_pool:fairlead_judged_gpus:sum"), by),
        ),
        unit: units.ratio,
      },
      {
        title: "Idle",
        query: orZero(aggregate("sum", query.recorded("cluster_team_pool:fairlead_idle_gpus:sum"), by), allocated),
        unit: units.gpus,
        levels: worseAbove(...limitOf(alerts, "GpuIdleAllocated", ({ minIdleGpus }) => minIdleGpus)),
      },
      { title: "Unseen", query: inStates("unobserved"), unit: units.gpus },
    ],
    nonZero: ["Allocated"],
    sortBy: "Idle",
    empty: "it holds no GPUs",
    links: { pool: rowLink("waste", "What is wasted here?", { cluster: "cluster", pool: "pool" }) },
  });
}
