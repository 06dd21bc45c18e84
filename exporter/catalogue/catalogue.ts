import { accountsMetrics } from "./accounts.ts";
import { adviceMetrics } from "./advice.ts";
import { budgetsMetrics } from "./budgets.ts";
import { costMetrics } from "./cost.ts";
import { fairnessMetrics } from "./fairness.ts";
import { idleNodesMetrics } from "./idleNodes.ts";
import { inventoryMetrics } from "./inventory.ts";
import { type MetricDefinition, type MetricType, metricType } from "./metric.ts";
import { placementMetrics } from "./placement.ts";
import { pricesMetrics } from "./prices.ts";
import { selfMetrics } from "./self.ts";
import { subjectMetrics } from "./subjects.ts";
import { telemetryMetrics } from "./telemetry.ts";
import { topologyMetrics } from "./topology.ts";
import { utilizationMetrics } from "./utilization.ts";
import { waitingMetrics } from "./waiting.ts";

/** The areas in the order in which a budget of series is spent. Metrics that show whether the others are true come first. */
export const metricAreas = [
  { title: "Fairlead itself", metrics: selfMetrics },
  { title: "Trust: sources, telemetry, estimates", metrics: telemetryMetrics },
  { title: "GPU time", metrics: accountsMetrics },
  { title: "Inventory", metrics: inventoryMetrics },
  { title: "Utilization", metrics: utilizationMetrics },
  { title: "Queues and fairness", metrics: fairnessMetrics },
  { title: "Waiting, evictions, gangs", metrics: waitingMetrics },
  { title: "Placement and blocked work", metrics: placementMetrics },
  { title: "Topology", metrics: topologyMetrics },
  { title: "Idle nodes and node pools", metrics: idleNodesMetrics },
  { title: "Prices", metrics: pricesMetrics },
  { title: "Cost", metrics: costMetrics },
  { title: "Budgets", metrics: budgetsMetrics },
  { title: "Recommendations", metrics: adviceMetrics },
  { title: "Names for alerts", metrics: subjectMetrics },
] as const;

/** Every metric that this version publishes, by name. */
export const metrics = {
  ...selfMetrics,
  ...telemetryMetrics,
  ...accountsMetrics,
  ...inventoryMetrics,
  ...utilizationMetrics,
  ...fairnessMetrics,
  ...waitingMetrics,
  ...placementMetrics,
  ...topologyMetrics,
  ...idleNodesMetrics,
  ...pricesMetrics,
  ...costMetrics,
  ...budgetsMetrics,
  ...adviceMetrics,
  ...subjectMetrics,
} as const;

export type MetricName = keyof typeof metrics;

type HistogramName = {
  [Name in MetricName]: (typeof metrics)[Name] extends { readonly buckets: readonly number[] } ? Name : never;
}[MetricName];

/** The names of the series in Prometheus: those of a histogram have a suffix. */
export type SeriesName = Exclude<MetricName, HistogramName> | `${HistogramName}_${"bucket" | "sum" | "count"}`;

/** The names of the counters, which `rate` and `increase` may be applied to. */
export type CounterName = Extract<MetricName, `${string}_total`> | `${HistogramName}_${"bucket" | "sum" | "count"}`;

/** The metric that has the series. */
type MetricOf<Name extends MetricName | SeriesName> = Name extends MetricName
  ? Name
  : Name extends `${infer Histogram extends HistogramName}_${"bucket" | "sum" | "count"}`
    ? Histogram
    : never;

/** The labels of one metric, or of the series of a histogram. */
export type LabelsOf<Name extends MetricName | SeriesName> =
  | (typeof metrics)[MetricOf<Name>]["labels"][number]
  | (Name extends `${HistogramName}_bucket` ? "le" : never);

/** The values of a label of one metric: its fixed values if the catalogue lists them, or else any text. */
export type LabelValue<
  Name extends MetricName | SeriesName,
  Label extends string,
> = (typeof metrics)[MetricOf<Name>] extends {
  readonly values: { readonly [L in Label]: readonly (infer Value)[] };
}
  ? Value
  : string;

/** The names of all metrics, in the order of the areas. */
export const metricNames: readonly MetricName[] = keysOf(metrics);

/** The definition of a metric, widened to what all metrics have in common, and its type. */
export function definitionOf(name: MetricName): MetricDefinition & { readonly type: MetricType } {
  const definition: MetricDefinition = metrics[name];
  return { ...definition, type: metricType(name, definition) };
}

function keysOf<Shape extends object>(shape: Shape): (keyof Shape)[] {
  const keys: (keyof Shape)[] = [];
  for (const key in shape) keys.push(key);
  return keys;
}
