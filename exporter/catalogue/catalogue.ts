import { accountsMetrics } from "./accounts.ts";
import { inventoryMetrics } from "./inventory.ts";
import type { MetricDefinition } from "./metric.ts";
import { selfMetrics } from "./self.ts";
import { telemetryMetrics } from "./telemetry.ts";
import { utilizationMetrics } from "./utilization.ts";

/** The areas in the order in which a budget of series is spent: what tells whether the rest is true comes first. */
export const metricAreas = [
  { title: "Fairlead itself", metrics: selfMetrics },
  { title: "Trust: sources, telemetry, estimates", metrics: telemetryMetrics },
  { title: "GPU time", metrics: accountsMetrics },
  { title: "Inventory", metrics: inventoryMetrics },
  { title: "Utilization", metrics: utilizationMetrics },
] as const;

/** Every metric that this version publishes, by name. */
export const metrics = {
  ...selfMetrics,
  ...telemetryMetrics,
  ...accountsMetrics,
  ...inventoryMetrics,
  ...utilizationMetrics,
} as const;

export type MetricName = keyof typeof metrics;

/** Names of the counters: what `rate` and `increase` may be asked of. */
export type CounterName = {
  [Name in MetricName]: (typeof metrics)[Name]["type"] extends "counter" ? Name : never;
}[MetricName];

/** The labels of one metric. */
export type LabelsOf<Name extends MetricName> = (typeof metrics)[Name]["labels"][number];

/** What a label of one metric can be: its fixed values where the catalogue lists them, else any text. */
export type LabelValue<Name extends MetricName, Label extends string> = (typeof metrics)[Name] extends {
  readonly values: { readonly [L in Label]: readonly (infer Value)[] };
}
  ? Value
  : string;

/** All names in the order of the areas. */
export const metricNames: readonly MetricName[] = keysOf(metrics);

/** The definition of a metric, widened to what all metrics have in common. */
export function definitionOf(name: MetricName): MetricDefinition {
  return metrics[name];
}

function keysOf<Shape extends object>(shape: Shape): (keyof Shape)[] {
  const keys: (keyof Shape)[] = [];
  for (const key in shape) keys.push(key);
  return keys;
}
