import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, type Expression, oneOf } from "../exporter/catalogue/promql.ts";
import type { allocatedTimeStates } from "../exporter/model/gpuStates.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { heatmap } from "./panel/heatmap.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { partOf } from "./query/queries.ts";
import { teamWork } from "./wasteWork.ts";

type State = (typeof allocatedTimeStates)[number];

/** What the GPUs of the team do: all of them over time, when they are busy, and in which pool. */
export function teamUse(tools: Tools): readonly PanelDraft[] {
  return [states(tools), busyTimes(tools), byPool(tools), teamWork(tools)];
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
