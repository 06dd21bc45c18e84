import type { MetricName } from "../../exporter/catalogue/catalogue.ts";
import {
  aggregate,
  arithmetic,
  arithmeticOn,
  increase,
  metric,
  withLabelsOf,
} from "../../exporter/catalogue/promql.ts";
import type { Producers } from "../../exporter/publish/family.ts";

// Checked by tsc alone: each line below an expectation must not compile.

// @ts-expect-error a metric that is not in the catalogue
export const noMetric = metric("fairlead_gpu");

// @ts-expect-error a label that the metric does not have
export const noLabel = metric("fairlead_team_gpus", { node_pool: "train" });

// @ts-expect-error a value that the label cannot have
export const noValue = metric("fairlead_team_gpus", { state: "held" });

// @ts-expect-error an increase of what is no counter
export const noCounter = increase(metric("fairlead_team_gpus"), "5m");

// @ts-expect-error a duration without a unit
export const noDuration = increase(metric("fairlead_cycles_total"), "5");

// @ts-expect-error a histogram has no series under its own name
export const noSeries = metric("fairlead_queue_wait_seconds");

// @ts-expect-error only buckets have the label `le`
export const noBound = metric("fairlead_queue_wait_seconds_sum", { le: "30" });

const byTeam = aggregate("sum", metric("fairlead_team_gpus"), ["cluster", "team"]);

// @ts-expect-error a label that was aggregated away
export const noMore = aggregate("sum", byTeam, ["state"]);

// @ts-expect-error the two sides have different labels
export const different = arithmetic(byTeam, "/", metric("fairlead_team_gpus"));

// @ts-expect-error a label that only one side has
export const oneSided = arithmeticOn(byTeam, "/", metric("fairlead_pool_power_watts"), ["team"]);

// @ts-expect-error the info metric has no such label
export const noInfo = withLabelsOf(byTeam, metric("fairlead_pool_info"), ["cluster"], ["zone"]);

// @ts-expect-error a catalogue with metrics that have no producer
export const missing: Producers<MetricName> = { fairlead_build_info: () => [] };

export const wrongLabel: Producers<"fairlead_pool_info"> = {
  // @ts-expect-error a sample without the labels of its metric
  fairlead_pool_info: () => [{ labels: { pool: "H100" }, value: 1 }],
};
