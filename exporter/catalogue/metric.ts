import type { LabelName } from "./labels.ts";

/**
 * The type of a metric. Counters start at 0 in every process and never fall. A histogram is three counters (`_bucket` with the
 * label `le`, `_sum`, `_count`).
 */
export type MetricType = "gauge" | "counter" | "histogram";

/** The type of a metric: a histogram if it has buckets, a counter if its name ends in `_total`, and otherwise a gauge. */
export function metricType(name: string, { buckets }: Pick<MetricDefinition, "buckets">): MetricType {
  if (buckets !== undefined) return "histogram";
  return name.endsWith("_total") ? "counter" : "gauge";
}

/**
 * What a metric counts. `info` means that the value is always 1 and the labels are the information; `number` means that it has
 * no unit.
 */
export type Unit =
  | "gpus"
  | "ratio"
  | "bytes"
  | "watts"
  | "joules"
  | "gpu_seconds"
  | "node_seconds"
  | "seconds"
  | "nodes"
  | "node_hours"
  | "grams"
  | "cost"
  | "cost_per_hour"
  | "count"
  | "number"
  | "boolean"
  | "info";

/** One metric as data. Registry, documentation, dashboards and alerts take names and labels from here. */
export interface MetricDefinition {
  readonly unit: Unit;
  /** One sentence, which is the HELP line and the text in `docs/metrics.md`. */
  readonly help: string;
  /** How the value is computed, for `docs/metrics.md`. */
  readonly formula?: string;
  /** One example with numbers. */
  readonly example?: string;
  readonly labels: readonly LabelName[];
  /** All values of labels, where they are few and fixed. */
  readonly values?: Readonly<Partial<Record<LabelName, readonly string[]>>>;
  /** Upper bounds of a histogram's buckets, in rising order, without `+Inf`; only histograms have them. */
  readonly buckets?: readonly number[];
  /** `alpha` if the name and the labels may change with any version; those of all others change only with a major version. */
  readonly stability?: "alpha";
}

/** The metrics of one area, by name. */
export type MetricArea = Readonly<Record<`fairlead_${string}`, MetricDefinition>>;
