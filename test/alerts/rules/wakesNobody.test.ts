import { describe, expect, test } from "vitest";
import type { AlertName } from "../../../alerts/alertList.ts";
import { alertsSchema, defaultAlerts } from "../../../alerts/thresholds.ts";
import { hasPromtool, type RuleTest, rulesOf, runPromtool } from "../promtool.ts";
import { health, inputSeries, series, type WorldSeries } from "../world.ts";

const twins = [
  ["GpuTeamStarved", "GpuTeamStarvedLong"],
  ["GpuJobUnplaceable", "GpuJobUnplaceableLong"],
] as const;

/** For a day a team lacks these GPUs, and a job is blocked that asks for as many. */
function lossesOf(pool: string, gpus: number, perGpuHour: number): readonly WorldSeries[] {
  const cluster = "east";
  const queue = { cluster, scheduler: "kueue", kind: "ClusterQueue", queue: "q", domain: pool, team: "search" };
  const machine = {
    instance_type: "i",
    capacity_type: "on-demand",
    price_basis: "whole-instance",
    price_source: "table",
  };
  return [
    series("fairlead_team_entitled_gpus", { cluster, team: "search", domain: pool }, gpus),
    series("fairlead_team_fairness_deviation_gpus", { cluster, team: "search", domain: pool }, -gpus),
    series("fairlead_queue_actionable_shortfall_gpus", queue, gpus),
    series("fairlead_blocked_gpus", { cluster, pool, blocker: "spread" }, gpus),
    series("fairlead_longest_blocked_seconds", { cluster, pool }, "0+300x#"),
    series("fairlead_price_per_gpu_hour", { cluster, pool, node_pool: pool, currency: "USD", ...machine }, perGpuHour),
    series("fairlead_domain_info", { cluster, domain: pool, pool }, 1),
  ];
}

/** Which of these alerts fire after so many minutes of a day, each alone, as promtool says what it found. */
function firing(alert: AlertName, world: readonly WorldSeries[], minutes: number, config = defaultAlerts): boolean {
  const name = `${alert} is silent`;
  const quiet: RuleTest = {
    name,
    interval: "5m",
    input_series: inputSeries([...health(300), ...world], 290),
    alert_rule_test: [{ eval_time: `${minutes}m`, alertname: alert, exp_alerts: [] }],
  };
  const said = runPromtool(rulesOf(alert, config), "5m", [quiet]);
  expect([...said.keys()].filter((one) => one !== name)).toEqual([]);
  return said.has(name);
}

describe.skipIf(!hasPromtool())("who is woken", () => {
  test.each(twins)("%s of one L4 is a ticket for a whole day, and %s never pages for it", (ticket, page) => {
    const world = lossesOf("L4", 1, 0.8);
    expect(defaultAlerts.alerts[ticket].action).toBe("ticket");
    expect(firing(ticket, world, 60)).toBe(true);
    expect(firing(ticket, world, 1400)).toBe(true);
    for (const minutes of [60, 300, 1400]) expect(firing(page, world, minutes)).toBe(false);
  });

  test.each(twins)("%s of 64 H100 has a twin %s that pages within the hour, and not at once", (ticket, page) => {
    const world = lossesOf("H100", 64, 4);
    expect(defaultAlerts.alerts[page].action).toBe("page");
    expect(firing(ticket, world, 60)).toBe(true);
    expect(firing(page, world, 25)).toBe(false);
    expect(firing(page, world, 40)).toBe(true);
  });

  test("both thresholds are settings", () => {
    const world = lossesOf("L4", 1, 0.8);
    const config = alertsSchema.parse({ alerts: { GpuTeamStarvedLong: { gpuHoursAbove: 2, costAbove: 1 } } });
    expect(firing("GpuTeamStarvedLong", world, 300, config)).toBe(true);
    const dear = alertsSchema.parse({ alerts: { GpuTeamStarvedLong: { gpuHoursAbove: 2 } } });
    expect(firing("GpuTeamStarvedLong", world, 300, dear)).toBe(false);
  });
});
