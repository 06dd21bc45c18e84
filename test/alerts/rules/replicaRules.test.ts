import { describe, expect, test } from "vitest";
import { recordingGroups } from "../../../alerts/ruleGroups.ts";
import { defaultAlerts } from "../../../alerts/thresholds.ts";
import { hasPromtool, type RuleTest, runPromtool } from "../promtool.ts";
import { fromReplica, inputSeries, series, type WorldSeries } from "../world.ts";

const idle = (cluster: string, team: string, gpus: number | string): WorldSeries =>
  series("fairlead_team_gpus", { cluster, team, pool: "A100", state: "idle" }, gpus);

/** What a query must find at some moments. */
interface ExpressionMoment {
  readonly expr: string;
  readonly eval_time: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

function ruleTest(
  name: string,
  world: readonly WorldSeries[],
  steps: number,
  promql_expr_test: readonly ExpressionMoment[],
  interval = "1m",
): RuleTest & { readonly promql_expr_test: readonly ExpressionMoment[] } {
  return { name, interval, input_series: inputSeries(world, steps), alert_rule_test: [], promql_expr_test };
}

describe.skipIf(!hasPromtool())("of two replicas the rules", () => {
  test("stay with the replica that they read until another has covered ten minutes more", () => {
    // Scraped in turns, each of two that began at the same moment is ahead every other minute.
    const world = [
      series("fairlead_covered_seconds_total", { cluster: "east" }, "0 120 120 240 240 360 360 480 480 600 600 720"),
      idle("east", "ads", 4),
      fromReplica(
        1,
        series("fairlead_covered_seconds_total", { cluster: "east" }, "60 60 180 180 300 300 420 420 540 540 660"),
      ),
      fromReplica(1, idle("east", "ads", 6)),
      series("fairlead_covered_seconds_total", { cluster: "west" }, "300+60x60"),
      idle("west", "ads", 4),
      fromReplica(1, series("fairlead_covered_seconds_total", { cluster: "west" }, "0+60x9 1000+60x30 5000+60x30")),
      fromReplica(1, idle("west", "ads", 6)),
    ];
    const read = (cluster: string, eval_time: string, value: number) => ({
      expr: `cluster_team_pool:fairlead_idle_gpus:sum{cluster="${cluster}"}`,
      eval_time,
      exp_samples: [
        {
          labels: `cluster_team_pool:fairlead_idle_gpus:sum{cluster="${cluster}", team="ads", pool="A100"}`,
          value,
        },
      ],
    });
    const promql_expr_test = [
      ...["1m", "2m", "3m", "4m", "5m", "8m"].map((at) => read("east", at, 6)),
      read("west", "5m", 4),
      read("west", "11m", 4),
      read("west", "40m", 4),
      read("west", "45m", 6),
    ];
    const replicas = ruleTest("replicas in turns", world, 60, promql_expr_test);
    expect(runPromtool(recordingGroups(defaultAlerts), "1m", [replicas])).toEqual(new Map());
  });

  test("read a replica that sees everything before one that covers longer with a source down, or serves its health alone", () => {
    const covered = (of: string): WorldSeries => series("fairlead_covered_seconds_total", { cluster: "east" }, of);
    const up = (source: string, of: string): WorldSeries =>
      series("fairlead_source_up", { cluster: "east", source }, of);
    const world = [
      // From 5 m on without the API, from 10 m on with it again; from 15 m on its page is too old.
      covered("90000+60x5 90300+0x4 90300+60x5 stale"),
      up("kubernetes", "1+0x4 0+0x4 1+0x40"),
      up("dcgm", "1+0x40"),
      // One minute before, reading pods begins to fail.
      series(
        "fairlead_problems",
        { cluster: "east", source: "kubernetes", code: "kind-failing", severity: "warning" },
        "0+0x3 1+0x5 0+0x40",
      ),
      idle("east", "ads", "4+0x4 _x4 4+0x6 stale"),
      fromReplica(1, covered("0+60x40")),
      fromReplica(1, up("kubernetes", "1+0x40")),
      fromReplica(1, up("dcgm", "1+0x40")),
      fromReplica(1, idle("east", "ads", 6)),
    ];
    const shown = (eval_time: string, value: number) => ({
      expr: "cluster_team_pool:fairlead_idle_gpus:sum",
      eval_time,
      exp_samples: [
        { labels: `cluster_team_pool:fairlead_idle_gpus:sum{cluster="east", team="ads", pool="A100"}`, value },
      ],
    });
    const promql_expr_test = [
      shown("3m", 4),
      shown("4m", 6),
      shown("5m", 6),
      shown("9m", 6),
      shown("10m", 4),
      shown("17m", 6),
    ];
    const replicas = ruleTest("replicas that see less", world, 40, promql_expr_test);
    expect(runPromtool(recordingGroups(defaultAlerts), "1m", [replicas])).toEqual(new Map());
  });

  test("leave no hole in what a panel reads between a replica's end and the next evaluation", () => {
    const covered = (of: string): WorldSeries => series("fairlead_covered_seconds_total", { cluster: "east" }, of);
    const world = [
      covered("6000+30x11 stale"),
      idle("east", "ads", "4+0x11 stale"),
      fromReplica(1, covered("0+30x40")),
      fromReplica(1, idle("east", "ads", 6)),
    ];
    const shown = (eval_time: string, value: number) => ({
      expr: "sum by (cluster) (cluster_team_pool_state:fairlead_team_gpus:sum)",
      eval_time,
      exp_samples: [{ labels: '{cluster="east"}', value }],
    });
    // The rules are evaluated every 4 m, the last scrape of the first replica is at 5 m 30 s.
    const promql_expr_test = [shown("5m", 4), shown("6m", 4), shown("7m30s", 4), shown("8m", 6)];
    const replicas = ruleTest("replicas between", world, 40, promql_expr_test, "30s");
    expect(runPromtool(recordingGroups(defaultAlerts), "4m", [replicas])).toEqual(new Map());
  });
});
