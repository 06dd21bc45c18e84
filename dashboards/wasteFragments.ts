import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, oneOf } from "../exporter/catalogue/promql.ts";
import type { Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limitOf, worseAbove } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";

const by = ["cluster", "pool"] as const;

/** The number of pods of each usual size that could start now. */
export function placeablePods({ query, rowLink }: Tools): PanelDraft {
  const pods = (size: "1" | "2" | "4" | "8") => query.max("fairlead_placeable_pods", by, { size });
  return barChart({
    title: "Pods that fit now, by size",
    meaning:
      "Pods of 1, 2, 4 and 8 whole GPUs that each pool could take now, with the CPU and memory that such pods usually ask for. Many small ones and no large one is fragmentation.",
    unit: units.count,
    size: [12, 8],
    labels: { pool: "Pool", cluster: "Cluster" },
    along: "pool",
    values: [
      { title: "of 1 GPU", query: pods("1"), unit: units.count },
      { title: "of 2", query: pods("2"), unit: units.count },
      { title: "of 4", query: pods("4"), unit: units.count },
      { title: "of 8", query: pods("8"), unit: units.count },
    ],
    colours: { "of 1 GPU": "neutral", "of 2": "third", "of 4": "fourth", "of 8": "other" },
    links: [rowLink("fairness", "Which work waits?", { cluster: "cluster" })],
  });
}

/** The reasons why usual pods do not fit on free GPUs, for each pool. */
export function strandedGpus({ query, alerts, rowLink, page }: Tools): PanelDraft {
  const free = query.recorded("cluster_pool:fairlead_whole_free_gpus:sum");
  const because = (...reasons: readonly string[]) =>
    orZero(query.sum("fairlead_stranded_gpus", by, { reason: oneOf(reasons) }), free);
  const movable = query.max("fairlead_reducible_fragmentation_gpus", by);
  return table({
    title: "Free and stranded GPUs, by pool",
    meaning:
      "Wholly free GPUs of each pool and the part on nodes where no usual pod fits, by what is missing there. Kept out: by taints or selectors, which is not counted as stranded. Moves free: what the best plan of moves would win.",
    size: [24, 7],
    labels: { pool: "Pool", cluster: "Cluster" },
    values: [
      { title: "Free", query: free, unit: units.gpus },
      {
        title: "Stranded",
        query: query.recorded("cluster_pool:fairlead_stranded_gpus:ratio"),
        unit: units.ratio,
        levels: worseAbove(...limitOf(alerts, "GpuFragmentationHigh", ({ strandedAbove }) => strandedAbove)),
      },
      { title: "No CPU, memory", query: because("cpu", "memory", "cpu_and_memory"), unit: units.gpus },
      { title: "Few GPUs", query: because("gpus"), unit: units.gpus },
      { title: "Kept out", query: because("constraint"), unit: units.gpus },
      { title: "Moves free", query: movable, unit: units.gpus, decimals: 1 },
    ],
    nonZero: ["Free"],
    sortBy: "Stranded",
    empty: "no whole GPU is free",
    widths: {
      Cluster: 100,
      Free: 100,
      Stranded: 100,
      "No CPU, memory": 140,
      "Few GPUs": 100,
      "Kept out": 100,
      "Moves free": 110,
    },
    links: {
      pool: page("/recommendations", "Which moves would help?"),
      cluster: rowLink("fleet", "What does the pool have?", { cluster: "cluster", pool: "pool" }),
    },
  });
}

/** The stranded part over time. */
export function strandedOverTime({ query, alerts, seriesLink }: Tools): PanelDraft {
  return timeSeries({
    title: "Stranded part of free GPUs, by pool",
    meaning:
      "Part of each pool's wholly free GPUs on nodes where no usual pod fits. It rises while small pods spread; it is of no matter while almost nothing is free.",
    unit: units.ratio,
    limits: true,
    levels: worseAbove(...limitOf(alerts, "GpuFragmentationHigh", ({ strandedAbove }) => strandedAbove)),
    noValue: "nothing free",
    size: [12, 8],
    shows: [shows(query.recorded("cluster_pool:fairlead_stranded_gpus:ratio"), "{{pool}} ({{cluster}})")],
    links: [seriesLink("fleet", "What does the pool have?", { cluster: "cluster", pool: "pool" })],
  });
}

/** Work for which there are enough free GPUs, but not in one place. */
export function blockedWork({ query, alerts, rowLink }: Tools): PanelDraft {
  const gpus = query.recorded("cluster_pool:fairlead_blocked_gpus:sum");
  const because = (...blockers: readonly string[]) =>
    orZero(query.sum("fairlead_blocked_gpus", by, { blocker: oneOf(blockers) }), gpus);
  const { minBlockedGpus, blockedAboveSeconds } = alerts.alerts.GpuJobUnplaceable;
  return table({
    title: "GPUs of work blocked next to free GPUs",
    meaning:
      "GPUs of waiting gangs that fit into what is free but onto no set of nodes, for more than five minutes, by what is in the way. A smaller pod shape helps at once, moves help soon.",
    size: [24, 6],
    labels: { pool: "Pool", cluster: "Cluster" },
    values: [
      {
        title: "Waits for",
        query: gpus,
        unit: units.gpus,
        levels: worseAbove(...limitOf(alerts, "GpuJobUnplaceable", () => minBlockedGpus)),
      },
      {
        title: "Longest",
        query: aggregate("max", query.recorded("cluster_pool:fairlead_longest_blocked_seconds:max"), by),
        unit: units.wait,
        levels: worseAbove(...limitOf(alerts, "GpuJobUnplaceable", () => blockedAboveSeconds)),
      },
      { title: "CPU, memory", query: because("cpu", "memory", "cpu_and_memory"), unit: units.gpus },
      { title: "Topology", query: because("topology", "spread"), unit: units.gpus },
      { title: "Model, selector", query: because("model", "selector"), unit: units.gpus },
      { title: "MIG shape", query: because("mig_geometry"), unit: units.gpus },
    ],
    nonZero: ["Waits for"],
    sortBy: "Waits for",
    empty: "no work waits next to free GPUs",
    widths: {
      Cluster: 100,
      "Waits for": 105,
      Longest: 110,
      "CPU, memory": 120,
      Topology: 100,
      "Model, selector": 130,
      "MIG shape": 110,
    },
    links: { pool: rowLink("fairness", "Which queues wait?", { cluster: "cluster" }) },
  });
}
