import { aggregate, oneOf } from "../exporter/catalogue/promql.ts";
import { quantileOfBuckets } from "../exporter/catalogue/promqlSeries.ts";
import type { waitCauses } from "../exporter/model/waitCauses.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { heatmap } from "./panel/heatmap.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** What waits and why, how long, and what is evicted. */
export function queueWaits(tools: Tools): readonly PanelDraft[] {
  return [causes(tools), quantiles(tools), spread(tools), evictions(tools)];
}

function causes({ query, seriesLink }: Tools): PanelDraft {
  const because = (...of: readonly (typeof waitCauses)[number][]) =>
    aggregate("sum", query.sum("fairlead_queue_waiting_gpus", ["cluster"], { cause: oneOf(of) }));
  return timeSeries({
    title: "Why does work wait?",
    meaning:
      "GPUs that work waits for, each gang by the one cause for which it waits. Capacity needs GPUs, quota a limit that is raised, fragmentation work that moves; what fits, is allowed and does not start points at the scheduler.",
    unit: units.gpus,
    style: "area",
    stack: "normal",
    size: [12, 8],
    noValue: "nothing waits",
    shows: [
      shows(because("capacity"), "No GPU is free", "neutral"),
      shows(because("quota"), "Quota or limit", "watch"),
      shows(because("fragmentation"), "Free, but not together", "fourth"),
      shows(because("constraint", "admission_check", "gang"), "Its own conditions, checks, its gang", "other"),
      shows(because("scheduler"), "Fits, and is not started", "act"),
      shows(because("unknown"), "Unknown", "unknown"),
    ],
    links: [seriesLink("waste", "What is free, and why does nothing fit?", {})],
  });
}

function quantiles({ query, alerts, seriesLink }: Tools): PanelDraft {
  const { window } = alerts.alerts.GpuQueueWaitHigh;
  const waits = query.recorded("cluster_queue_phase_le:fairlead_queue_waits:increase");
  return timeSeries({
    title: "How long does work wait?",
    meaning: `What half of the waits of each queue stay below, and what 95 of 100 do, over ${window}; work that waits still counts with its age. A gap is time without a wait.`,
    unit: units.wait,
    levels: worseAbove(...limitOf(alerts, "GpuQueueWaitHigh", ({ p95AboveSeconds }) => p95AboveSeconds)),
    limits: true,
    size: [24, 14],
    legend: "table",
    noValue: "no waits",
    shows: [
      shows(aggregate("max", quantileOfBuckets(0.5, waits), ["cluster", "queue"]), "half: {{queue}} ({{cluster}})"),
      shows(query.recorded("cluster_queue:fairlead_queue_wait_seconds:p95"), "95 of 100: {{queue}} ({{cluster}})"),
    ],
    links: [seriesLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue" })],
  });
}

function spread({ query, seriesLink }: Tools): PanelDraft {
  return heatmap({
    title: "How are waits spread?",
    meaning:
      "Waits that ended, by how long they took (up) and when they ended (across); the colour says how many, as in the scale below. Waiting for quota and for the start count by themselves. A second, higher band is work that the rest goes before.",
    unit: units.count,
    rows: "buckets",
    rowUnit: "dthms",
    size: [12, 8],
    noValue: "no waits",
    shows: shows(query.increase("fairlead_queue_wait_seconds_bucket", "$__rate_interval", ["le"]), "{{le}}"),
    links: [seriesLink("team", "What do these teams have?", {})],
  });
}

function evictions({ query, alerts, page }: Tools): PanelDraft {
  const { minPerHour, timesUsual } = alerts.alerts.GpuPreemptionStorm;
  return timeSeries({
    title: "How often is work evicted?",
    meaning: `Evictions of work of each queue in the hour before. Some are how borrowed GPUs come back; from ${minPerHour} an hour and ${timesUsual} times the usual on, GpuPreemptionStorm fires: see which queue takes the place.`,
    unit: units.perHour,
    size: [12, 8],
    noValue: "none known",
    shows: [shows(query.recorded("cluster_queue:fairlead_evictions:increase1h"), "{{queue}} ({{cluster}})")],
    links: [page("/recommendations", "What would change this?")],
  });
}
