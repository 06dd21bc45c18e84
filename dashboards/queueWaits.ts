import { aggregate, arithmetic, oneOf } from "../exporter/catalogue/promql.ts";
import type { waitCauses } from "../exporter/model/waitCauses.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { heatmap } from "./panel/heatmap.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** Which work waits and why, and how long in each queue. */
export function queueWaits(tools: Tools): readonly PanelDraft[] {
  return [causes(tools), quantiles(tools)];
}

/** The distribution of waits, and the evictions. */
export function waitsAndEvictions(tools: Tools): readonly PanelDraft[] {
  return [spread(tools), evictions(tools)];
}

function causes({ query, seriesLink }: Tools): PanelDraft {
  const because = (...of: readonly (typeof waitCauses)[number][]) =>
    aggregate("sum", query.sum("fairlead_queue_waiting_gpus", ["cluster"], { cause: oneOf(of) }));
  return timeSeries({
    title: "GPUs waited for, by cause",
    meaning:
      "GPUs that work waits for, each gang by the one cause for which it waits. Capacity needs GPUs, as does a gang that fits only in part; quota needs a limit that is raised, fragmentation work that moves; what fits, is allowed and does not start points at the scheduler.",
    unit: units.gpus,
    style: "area",
    size: [12, 8],
    noValue: "nothing waits",
    shows: [
      shows(because("capacity"), "No GPU is free", "neutral"),
      shows(because("quota"), "Quota or limit", "watch"),
      shows(because("fragmentation", "topology"), "Free, but not together", "fourth"),
      shows(because("gang"), "Only a part of the gang", "third"),
      shows(because("constraint", "admission_check"), "Its own conditions, checks", "other"),
      shows(because("scheduler"), "Fits, and is not started", "act"),
      shows(because("unknown"), "Unknown", "unknown"),
    ],
    links: [seriesLink("waste", "What is free, and why does nothing fit?", {})],
  });
}

function quantiles({ query, alerts, rowLink }: Tools): PanelDraft {
  const { window, p95AboveSeconds } = alerts.alerts.GpuQueueWaitHigh;
  const queue = ["cluster", "queue"] as const;
  const p95 = query.recorded("cluster_queue:fairlead_queue_wait_seconds:p95");
  return table({
    title: "Waits by queue: p50, p95 and target",
    meaning: `Waits of each queue over ${window}: how many, what half of them (p50) and what 95 of 100 (p95) stay below, the target of the alert for p95, and how long the work that has waited longest waits now. Work that waits still counts with its age. Look first at queues whose p95 is far above their target.`,
    size: [24, 9],
    labels: { queue: "Queue", cluster: "Cluster" },
    values: [
      { title: "Waits", query: query.recorded("cluster_queue:fairlead_queue_waits:increase"), unit: units.count },
      { title: "p50", query: query.recorded("cluster_queue:fairlead_queue_wait_seconds:p50"), unit: units.wait },
      {
        title: "p95",
        query: p95,
        unit: units.wait,
        levels: worseAbove(...limitOf(alerts, "GpuQueueWaitHigh", () => p95AboveSeconds)),
      },
      { title: "Target", query: arithmetic(arithmetic(p95, "*", 0), "+", p95AboveSeconds), unit: units.wait },
      { title: "Longest now", query: query.max("fairlead_queue_oldest_wait_seconds", queue), unit: units.wait },
    ],
    nonZero: ["Waits", "Longest now"],
    sortBy: "p95",
    empty: "no work has waited",
    widths: { Waits: 110, p50: 130, p95: 130, Target: 130, "Longest now": 140 },
    links: { queue: rowLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue" }) },
  });
}

function spread({ query, alerts, seriesLink }: Tools): PanelDraft {
  const { window } = alerts.alerts.GpuQueueWaitHigh;
  return heatmap({
    title: "Waits by length",
    meaning: `Waits that ended in the ${window} before, and those that last, by how long (up) and when (across); the colour says how many, as in the scale below. Waiting for quota and for the start count by themselves. A second, higher band is work that the rest goes before.`,
    unit: units.count,
    rows: "buckets",
    rowUnit: "dthms",
    size: [12, 8],
    noValue: "no waits",
    shows: shows(
      aggregate("sum", query.recorded("cluster_queue_phase_le:fairlead_queue_waits:increase"), ["le"]),
      "{{le}}",
    ),
    links: [seriesLink("team", "What do these teams have?", {})],
  });
}

function evictions({ query, alerts, page }: Tools): PanelDraft {
  const { minPerHour, timesUsual } = alerts.alerts.GpuPreemptionStorm;
  return timeSeries({
    title: "Evictions per hour, by queue",
    meaning: `Evictions of work of each queue in the hour before. Some are how borrowed GPUs come back; from ${minPerHour} an hour and ${timesUsual} times the usual on, GpuPreemptionStorm fires: see which queue takes the place.`,
    unit: units.perHour,
    size: [12, 8],
    noValue: "none known",
    shows: [shows(query.recorded("cluster_queue:fairlead_evictions:increase1h"), "{{queue}} ({{cluster}})")],
    links: [page("/recommendations", "What would change this?")],
  });
}
