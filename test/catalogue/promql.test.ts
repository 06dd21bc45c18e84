import { parser } from "@prometheus-io/lezer-promql";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  aggregate,
  arithmetic,
  arithmeticOn,
  type Expression,
  filter,
  increase,
  isNot,
  matches,
  matchesNot,
  metric,
  secondsSince,
  topk,
  where,
  withLabelsOf,
} from "../../exporter/catalogue/promql.ts";

/** Parts of the text that are not PromQL. */
function errorsOf(text: string): string[] {
  const errors: string[] = [];
  parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) errors.push(`${node.from}-${node.to}`);
    },
  });
  return errors;
}

const teamGpus = metric("fairlead_team_gpus");
const idle = metric("fairlead_team_gpus", { state: "idle", team: isNot("other") });

const cases: readonly (readonly [string, { readonly text: string }, string])[] = [
  ["a metric", teamGpus, "fairlead_team_gpus"],
  ["a narrowed metric", idle, 'fairlead_team_gpus{state="idle", team!="other"}'],
  [
    "regular expressions",
    metric("fairlead_gpus", { pool: matches("H.*"), node_pool: matchesNot("a|b") }),
    'fairlead_gpus{pool=~"H.*", node_pool!~"a|b"}',
  ],
  [
    "a sum",
    aggregate("sum", idle, ["cluster", "team"]),
    'sum by (cluster, team) (fairlead_team_gpus{state="idle", team!="other"})',
  ],
  ["a sum of everything", aggregate("sum", teamGpus), "sum by () (fairlead_team_gpus)"],
  ["an increase", increase(metric("fairlead_cycles_total"), "1h"), "increase(fairlead_cycles_total[1h])"],
  [
    "the parts of a histogram",
    arithmetic(
      increase(metric("fairlead_queue_wait_seconds_sum", { phase: "start" }), "1h"),
      "/",
      increase(metric("fairlead_queue_wait_seconds_count", { phase: "start" }), "1h"),
    ),
    'increase(fairlead_queue_wait_seconds_sum{phase="start"}[1h]) / increase(fairlead_queue_wait_seconds_count{phase="start"}[1h])',
  ],
  [
    "a bucket",
    metric("fairlead_queue_wait_seconds_bucket", { le: "3600", queue: "search" }),
    'fairlead_queue_wait_seconds_bucket{le="3600", queue="search"}',
  ],
  [
    "an age",
    where(secondsSince(metric("fairlead_last_cycle_timestamp_seconds")), ">", 90),
    "(time() - fairlead_last_cycle_timestamp_seconds) > 90",
  ],
  ["the largest", topk(3, aggregate("sum", teamGpus, ["team"])), "topk(3, sum by (team) (fairlead_team_gpus))"],
  [
    "a ratio",
    where(arithmetic(aggregate("sum", idle, ["team"]), "/", aggregate("sum", teamGpus, ["team"])), ">=", 0.5),
    '(sum by (team) (fairlead_team_gpus{state="idle", team!="other"}) / sum by (team) (fairlead_team_gpus)) >= 0.5',
  ],
  ["a negative number", arithmetic(teamGpus, "*", -1), "fairlead_team_gpus * (-1)"],
  [
    "matching on some labels",
    arithmeticOn(
      metric("fairlead_pool_power_watts"),
      "/",
      aggregate("sum", metric("fairlead_gpus"), ["cluster", "pool"]),
      ["cluster", "pool"],
    ),
    "fairlead_pool_power_watts / on (cluster, pool) sum by (cluster, pool) (fairlead_gpus)",
  ],
  [
    "labels of an info metric",
    withLabelsOf(metric("fairlead_gpus"), metric("fairlead_pool_info"), ["cluster", "pool"], ["gpu_model"]),
    "fairlead_gpus * on (cluster, pool) group_left (gpu_model) fairlead_pool_info",
  ],
  [
    "only while a source is up",
    filter(teamGpus, "unless", where(metric("fairlead_source_up", { source: "dcgm" }), "==", 0), ["cluster"]),
    'fairlead_team_gpus unless on (cluster) (fairlead_source_up{source="dcgm"} == 0)',
  ],
];

describe("PromQL", () => {
  test.each(cases)("%s", (_name, expression, text) => {
    expect(expression.text).toBe(text);
    expect(errorsOf(text)).toEqual([]);
  });

  test("the check finds what is not PromQL", () => {
    expect(errorsOf("sum by (team (fairlead_team_gpus)")).not.toEqual([]);
  });

  test("any label value stays inside its quotes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (team) => {
        const expression: Expression<"cluster" | "team"> = metric("fairlead_team_pending_gpus", { team });
        expect(errorsOf(expression.text)).toEqual([]);
        let matchers = 0;
        parser.parse(expression.text).iterate({
          enter: (node) => {
            if (node.name === "UnquotedLabelMatcher") matchers += 1;
          },
        });
        expect(matchers).toBe(1);
      }),
      { seed: 5, numRuns: 300 },
    );
  });
});
