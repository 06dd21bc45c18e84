import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, secondsSince } from "../exporter/catalogue/promql.ts";
import { quantileOverTime } from "../exporter/catalogue/promqlSeries.ts";
import { collapsedRow, type DashboardDefinition, opening, type Tools } from "./dashboard.ts";
import { processPanels } from "./healthProcess.ts";
import { signals } from "./healthSignals.ts";
import type { PanelDraft, ValueLink } from "./panel/draft.ts";
import { limit, limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { stateTimeline } from "./panel/stateTimeline.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

/** The dashboard of Fairlead itself: whether it runs, keeps up, and sees everything. */
export const health: DashboardDefinition = {
  name: "exporter",
  title: "Fairlead: its own health",
  description: "Is Fairlead running, is it keeping up, and what can it not see?",
  variables: ["pool"],
  from: "now-6h",
  refresh: "1m",
  sections: (tools) => [
    opening(
      ...headline(tools),
      cycles(tools),
      sources(tools),
      stages(tools),
      sourceAge(tools),
      problems(tools),
      unmatched(tools),
    ),
    collapsedRow("Kubernetes and telemetry", ...inputs(tools), signals(tools)),
    collapsedRow("The process", ...processPanels(tools)),
  ],
};

function headline({ query, alerts, page }: Tools): readonly PanelDraft[] {
  const links = [toStart(page)];
  return [
    stat({
      title: "Replicas",
      meaning:
        "Replicas of Fairlead that Prometheus scrapes, for each cluster. One is enough; a cluster that is missing here has none, and nothing about it is known.",
      unit: units.count,
      kind: "now",
      noValue: "no data",
      links,
      shows: [
        shows(
          aggregate("count", query.recorded("cluster_instance_pod:fairlead_build_info:max"), ["cluster"]),
          "{{cluster}}",
        ),
      ],
    }),
    stat({
      title: "Age of the numbers",
      meaning:
        "Time since the last complete cycle. It should be about one interval; if it grows, look at the log and at the sources below.",
      unit: units.seconds,
      decimals: 0,
      kind: "now",
      levels: worseAbove(...limitOf(alerts, "GpuExporterStale", ({ ageAboveSeconds }) => ageAboveSeconds)),
      noValue: "no data",
      links,
      shows: [shows(secondsSince(query.recorded("cluster:fairlead_last_cycle_timestamp_seconds:max")), "{{cluster}}")],
    }),
    stat({
      title: "Version",
      meaning:
        "Version of Fairlead and of Node.js of every replica, for each cluster. Two at once are usual only while it is rolled out.",
      unit: units.text,
      kind: "now",
      text: "name",
      noValue: "no data",
      links,
      shows: [
        shows(
          query.recorded("cluster_version_node_version:fairlead_build_info:max"),
          "{{version}} (Node.js {{node_version}})",
        ),
      ],
    }),
    stat({
      title: "Series left out",
      meaning:
        "Series that the limit of the page cuts, or that had the same labels as another. None is right; else raise `limits.series`, or fold teams and queues earlier.",
      unit: units.count,
      kind: "now",
      levels: worseAbove(...limitOf(alerts, "GpuSeriesLimit", ({ droppedAbove }) => droppedAbove + 1)),
      noValue: "no data",
      links,
      shows: [shows(query.recorded("cluster:fairlead_series_dropped:max"), "{{cluster}}")],
    }),
  ];
}

/** The main panel of the page: whether cycles end before the next begins. */
function cycles({ query, alerts, page }: Tools): PanelDraft {
  const { window } = alerts.alerts.GpuExporterSlow;
  const duration = query.recorded("cluster:fairlead_cycle_duration_seconds:sum");
  return timeSeries({
    title: "Duration of cycles",
    meaning: `Duration of a cycle over ${window}: half of the cycles are below p50, 95 of 100 below p95. The alert judges 99 of 100. They should stay well below the interval; if not, give more CPU, raise the interval, or see which stage is slow.`,
    unit: units.seconds,
    levels: worseAbove(...limitOf(alerts, "GpuExporterSlow", ({ cycleAboveSeconds }) => cycleAboveSeconds)),
    limits: true,
    size: [12, 8],
    links: [toStart(page)],
    shows: [
      shows(quantileOverTime(0.5, duration, window), "p50 ({{cluster}})"),
      shows(quantileOverTime(0.95, duration, window), "p95 ({{cluster}})"),
    ],
  });
}

function sources({ query, page }: Tools): PanelDraft {
  return stateTimeline({
    title: "Usable sources",
    meaning:
      "Whether what each source must know is fresh enough. Where one is not, what depends on it is unknown, not 0; the table of problems says what to do.",
    unit: units.count,
    size: [12, 8],
    links: [toStart(page)],
    shows: [shows(query.max("fairlead_source_up", ["cluster", "source"]), "{{source}} ({{cluster}})")],
    states: [
      { from: null, to: 0.5, text: "not usable", colour: "act" },
      { from: 0.5, to: null, text: "fresh", colour: "good" },
    ],
  });
}

function stages({ query, page }: Tools): PanelDraft {
  return timeSeries({
    title: "Duration of a cycle, by stage",
    meaning:
      "Duration of each stage of the last complete cycle. Collecting waits for others; the rest is work on one CPU, which more GPUs and pods make longer.",
    unit: units.seconds,
    style: "area",
    size: [12, 8],
    links: [toStart(page)],
    shows: [shows(query.sum("fairlead_cycle_duration_seconds", ["cluster", "stage"]), "{{stage}} ({{cluster}})")],
  });
}

function sourceAge({ query, page }: Tools): PanelDraft {
  return timeSeries({
    title: "Age of data, by source",
    meaning:
      "Age of the oldest part of each source that is in use. It should saw between 0 and the time between two reads; a line that climbs has stopped being read.",
    unit: units.seconds,
    size: [12, 8],
    links: [toStart(page)],
    shows: [shows(query.max("fairlead_source_age_seconds", ["cluster", "source"]), "{{source}} ({{cluster}})")],
  });
}

function problems(tools: Tools): PanelDraft {
  const { query } = tools;
  const now = query.sum("fairlead_problems", ["cluster", "source", "code", "severity"]);
  return table({
    title: "Problems",
    meaning:
      "Problems that exist now, by source and kind. An empty table is good; Fairlead's start page says what to do about each.",
    size: [24, 8],
    labels: { severity: "Severity", source: "Where", code: "What", cluster: "Cluster" },
    values: [{ title: "How many", query: now, unit: units.count }],
    sortBy: "How many",
    empty: "nothing is wrong",
    links: { code: toStart(tools.page) },
  });
}

function unmatched({ query, alerts, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "pool"] as const;
  const all = query.sum("fairlead_gpus", by);
  return table({
    title: "GPUs that cannot be matched, by pool",
    meaning:
      "GPUs of each pool, those that are allocated, and of these the part without telemetry; GPUs without a price; and how far counts by device and by pod differ. Pools in which each of the last three is 0 are left out.",
    size: [24, 7],
    labels: { pool: "Pool", cluster: "Cluster" },
    values: [
      { title: "All", query: all, unit: units.gpus, decimals: 0 },
      {
        title: "Allocated",
        query: orZero(query.recorded("cluster_pool:fairlead_allocated_gpus:sum"), all),
        unit: units.gpus,
      },
      {
        title: "Unseen",
        query: query.recorded("cluster_pool:fairlead_unobserved_gpus:ratio"),
        unit: units.ratio,
        levels: worseAbove(...limitOf(alerts, "GpuTelemetryMissing", ({ unobservedAbove }) => unobservedAbove)),
      },
      {
        title: "Without price",
        query: orZero(query.recorded("cluster_pool:fairlead_unpriced_gpus:sum"), all),
        unit: units.gpus,
        levels: worseAbove(...limitOf(alerts, "GpuPriceStale", ({ minGpus }) => minGpus)),
      },
      { title: "Miscounted", query: query.max("fairlead_accounting_imbalance_gpus", by), unit: units.gpusMoreOrLess },
    ],
    nonZero: ["Unseen", "Without price", "Miscounted"],
    sortBy: "All",
    empty: "everything is matched",
    links: { pool: rowLink("waste", "What is wasted here?", { cluster: "cluster", pool: "pool" }) },
  });
}

function inputs({ query, page }: Tools): readonly PanelDraft[] {
  const links = [toStart(page)];
  const restarts = query.recorded("cluster_reason:fairlead_kubernetes_restarts:increase10m");
  return [
    timeSeries({
      title: "Slowest answers of the Kubernetes API",
      meaning:
        "Slowest answer to each kind of request in the last two minutes, one under way included, without the time in which Fairlead itself computed. Seconds are slow: the API server is busy, or something between throttles.",
      unit: units.seconds,
      levels: worseAbove(limit(5, "watch"), limit(30, "act")),
      size: [24, 10],
      legend: "table",
      links,
      shows: [
        shows(query.max("fairlead_kubernetes_answer_seconds", ["cluster", "resource"]), "{{resource}} ({{cluster}})"),
      ],
    }),
    timeSeries({
      title: "Watches begun anew",
      meaning:
        "Watches and lists that were begun anew in the 10 minutes before, but for those that the server closed as usual. A few are harmless; many mean an unsteady connection, and cost the API server a list each.",
      unit: units.count,
      style: "bars",
      size: [12, 8],
      links,
      shows: [shows(restarts, "{{reason}} ({{cluster}})")],
    }),
    timeSeries({
      title: "Telemetry targets",
      meaning:
        "Telemetry targets by whether their last page is fresh. Stale ones have stopped to answer and never ones have not answered since the start: see whether their pods run and can be reached.",
      unit: units.count,
      style: "area",
      size: [12, 8],
      links,
      shows: [
        shows(query.sum("fairlead_targets", ["cluster"], { state: "fresh" }), "fresh ({{cluster}})", "good"),
        shows(query.sum("fairlead_targets", ["cluster"], { state: "stale" }), "stale ({{cluster}})", "watch"),
        shows(query.sum("fairlead_targets", ["cluster"], { state: "never" }), "never ({{cluster}})", "act"),
      ],
    }),
  ];
}

/** A link to the page that shows each problem with its next step. */
function toStart(page: Tools["page"]): ValueLink {
  return page("/", "What is wrong now, and what to do");
}
