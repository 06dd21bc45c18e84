import type { LabelName } from "./labels.ts";

/**
 * Counters end in `_total`, start at 0 in every process and never fall. A histogram is three counters (`_bucket` with the
 * label `le`, `_sum`, `_count`). Everything else is a gauge.
 */
export type MetricType = "gauge" | "counter" | "histogram";

/** What a metric counts. `info`: the value is always 1 and the labels are the answer. `number`: it has no unit. */
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

/** `stable`: name and labels change only with a major version. `alpha`: may change with any version. */
export type Stability = "alpha" | "stable";

/** One metric as data. Registry, documentation, dashboards and alerts take names and labels from here. */
export interface MetricDefinition {
  readonly type: MetricType;
  readonly unit: Unit;
  /** One sentence; the HELP line and the text in `docs/metrics.md`. */
  readonly help: string;
  /** How the value is computed, for `docs/metrics.md`. */
  readonly formula?: string;
  /** One example with numbers. */
  readonly example?: string;
  readonly labels: readonly LabelName[];
  /** All values that a label can have, where they are few and fixed. */
  readonly values?: Readonly<Partial<Record<LabelName, readonly string[]>>>;
  /** Upper bounds of a histogram's buckets, rising, without `+Inf`; only histograms have them. */
  readonly buckets?: readonly number[];
  readonly stability: Stability;
}

/** The metrics of one area, by name. */
export type MetricArea = Readonly<Record<`fairlead_${string}`, MetricDefinition>>;
