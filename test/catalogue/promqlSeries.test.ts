import { parser } from "@prometheus-io/lezer-promql";
import { describe, expect, test } from "vitest";
import { aggregate, isNot, matches, metric } from "../../exporter/catalogue/promql.ts";
import {
  absentOverTime,
  arithmeticWithOne,
  clampMin,
  gpuHoursOver,
  labelFrom,
  labelled,
  narrowed,
  offset,
  predictLinear,
  quantileOfBuckets,
  quantileOverTime,
  recordedSeries,
  roundTo,
  scrapedTogether,
  seriesOverTime,
  sumOfEither,
  topkBy,
  union,
} from "../../exporter/catalogue/promqlSeries.ts";

const allocated = recordedSeries<"cluster" | "pool">("cluster_pool:allocated:sum");
const capacity = recordedSeries<"cluster">("cluster:capacity:sum", { cluster: isNot("lab") });
const buckets = recordedSeries<"cluster" | "le">("cluster_le:waits:increase");

const cases: readonly (readonly [string, { readonly text: string }, string])[] = [
  ["a recorded series", allocated, "cluster_pool:allocated:sum"],
  ["GPU-hours", gpuHoursOver(allocated, "4h"), "sum_over_time(cluster_pool:allocated:sum[4h:5m]) / 12"],
  ["a narrowed one", capacity, 'cluster:capacity:sum{cluster!="lab"}'],
  [
    "one narrowed by data",
    narrowed(allocated, [["pool", matches('a"b')]]),
    'cluster_pool:allocated:sum{pool=~"a\\"b"}',
  ],
  ["a mean", seriesOverTime("avg", capacity, "1h"), 'avg_over_time(cluster:capacity:sum{cluster!="lab"}[1h])'],
  ["a quantile", quantileOverTime(0.95, allocated, "1d"), "quantile_over_time(0.95, cluster_pool:allocated:sum[1d])"],
  ["a trend", predictLinear(allocated, "28d", 3600), "predict_linear(cluster_pool:allocated:sum[28d], 3600)"],
  ["absence", absentOverTime(allocated, "1d"), "absent_over_time(cluster_pool:allocated:sum[1d])"],
  ["the past", offset(allocated, "7d"), "cluster_pool:allocated:sum offset 7d"],
  ["the largest of each", topkBy(1, allocated, ["cluster"]), "topk by (cluster) (1, cluster_pool:allocated:sum)"],
  ["a floor", clampMin(allocated, 0), "clamp_min(cluster_pool:allocated:sum, 0)"],
  ["rounded", roundTo(allocated, 60), "round(cluster_pool:allocated:sum, 60)"],
  [
    "a label from another",
    labelFrom(allocated, "team", "pool"),
    'label_replace(cluster_pool:allocated:sum, "team", "$1", "pool", "(.*)")',
  ],
  [
    "a fixed label",
    labelled(allocated, "phase", "start"),
    'label_replace(cluster_pool:allocated:sum, "phase", "start", "", "")',
  ],
  [
    "either",
    union(allocated, absentOverTime(allocated, "1h")),
    "cluster_pool:allocated:sum or absent_over_time(cluster_pool:allocated:sum[1h])",
  ],
  [
    "a sum of either",
    sumOfEither(allocated, clampMin(allocated, 0)),
    "(cluster_pool:allocated:sum + clamp_min(cluster_pool:allocated:sum, 0)) or cluster_pool:allocated:sum or clamp_min(cluster_pool:allocated:sum, 0)",
  ],
  [
    "many with one",
    arithmeticWithOne(allocated, "/", recordedSeries<"cluster">("cluster:capacity:sum"), ["cluster"]),
    "cluster_pool:allocated:sum / on (cluster) group_left () cluster:capacity:sum",
  ],
  [
    "a quantile of buckets",
    quantileOfBuckets(0.95, aggregate("sum", buckets, ["cluster", "le"])),
    "histogram_quantile(0.95, sum by (cluster, le) (cluster_le:waits:increase))",
  ],
  [
    "one replica",
    scrapedTogether(metric("fairlead_gpus"), allocated, ["cluster", "instance"]),
    "fairlead_gpus and on (cluster, instance) cluster_pool:allocated:sum",
  ],
];

describe("PromQL of series", () => {
  test.each(cases)("%s", (_, expression, text) => {
    expect(expression.text).toBe(text);
    let errors = 0;
    parser.parse(text).iterate({
      enter: (node) => {
        if (node.type.isError) errors += 1;
      },
    });
    expect(errors).toBe(0);
  });
});
