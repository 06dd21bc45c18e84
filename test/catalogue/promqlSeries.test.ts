import { parser } from "@prometheus-io/lezer-promql";
import { describe, expect, test } from "vitest";
import { aggregate, isNot, matches, metric } from "../../exporter/catalogue/promql.ts";
import {
  absentOverTime,
  arithmeticWithOne,
  clampMin,
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

const held = recordedSeries<"cluster" | "pool">("cluster_pool:held:sum");
const capacity = recordedSeries<"cluster">("cluster:capacity:sum", { cluster: isNot("lab") });
const buckets = recordedSeries<"cluster" | "le">("cluster_le:waits:increase");

const cases: readonly (readonly [string, { readonly text: string }, string])[] = [
  ["a recorded series", held, "cluster_pool:held:sum"],
  ["a narrowed one", capacity, 'cluster:capacity:sum{cluster!="lab"}'],
  ["one narrowed by data", narrowed(held, [["pool", matches('a"b')]]), 'cluster_pool:held:sum{pool=~"a\\"b"}'],
  ["a mean", seriesOverTime("avg", capacity, "1h"), 'avg_over_time(cluster:capacity:sum{cluster!="lab"}[1h])'],
  ["a quantile", quantileOverTime(0.95, held, "1d"), "quantile_over_time(0.95, cluster_pool:held:sum[1d])"],
  ["a trend", predictLinear(held, "28d", 3600), "predict_linear(cluster_pool:held:sum[28d], 3600)"],
  ["absence", absentOverTime(held, "1d"), "absent_over_time(cluster_pool:held:sum[1d])"],
  ["the past", offset(held, "7d"), "cluster_pool:held:sum offset 7d"],
  ["the largest of each", topkBy(1, held, ["cluster"]), "topk by (cluster) (1, cluster_pool:held:sum)"],
  ["a floor", clampMin(held, 0), "clamp_min(cluster_pool:held:sum, 0)"],
  ["rounded", roundTo(held, 60), "round(cluster_pool:held:sum, 60)"],
  [
    "a label from another",
    labelFrom(held, "team", "pool"),
    'label_replace(cluster_pool:held:sum, "team", "$1", "pool", "(.*)")',
  ],
  ["a fixed label", labelled(held, "phase", "start"), 'label_replace(cluster_pool:held:sum, "phase", "start", "", "")'],
  [
    "either",
    union(held, absentOverTime(held, "1h")),
    "cluster_pool:held:sum or absent_over_time(cluster_pool:held:sum[1h])",
  ],
  [
    "a sum of either",
    sumOfEither(held, clampMin(held, 0)),
    "(cluster_pool:held:sum + clamp_min(cluster_pool:held:sum, 0)) or cluster_pool:held:sum or clamp_min(cluster_pool:held:sum, 0)",
  ],
  [
    "many with one",
    arithmeticWithOne(held, "/", recordedSeries<"cluster">("cluster:capacity:sum"), ["cluster"]),
    "cluster_pool:held:sum / on (cluster) group_left () cluster:capacity:sum",
  ],
  [
    "a quantile of buckets",
    quantileOfBuckets(0.95, aggregate("sum", buckets, ["cluster", "le"])),
    "histogram_quantile(0.95, sum by (cluster, le) (cluster_le:waits:increase))",
  ],
  [
    "one replica",
    scrapedTogether(metric("fairlead_gpus"), held, ["cluster", "instance"]),
    "fairlead_gpus and on (cluster, instance) cluster_pool:held:sum",
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
