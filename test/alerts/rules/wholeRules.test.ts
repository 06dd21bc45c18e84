import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alertNames } from "../../../alerts/alertList.ts";
import { alertGroups, recordingGroups } from "../../../alerts/ruleGroups.ts";
import { type AlertsConfig, alertsSchema, defaultAlerts } from "../../../alerts/thresholds.ts";
import { type AlertMoment, hasPromtool, type RuleTest, rulesOf, runPromtool } from "../promtool.ts";
import { fromReplica, health, inputSeries, recommendation, series, type WorldSeries } from "../world.ts";
import { unnamed } from "./alertTable.ts";

const idle = (cluster: string, team: string, gpus: number | string): WorldSeries =>
  series("fairlead_team_gpus", { cluster, team, pool: "A100", state: "idle" }, gpus);

const soon = { alerts: { GpuIdleAllocated: { for: "2m", keepFiringFor: "0m" } } };

function ruleTest(
  name: string,
  world: readonly WorldSeries[],
  steps: number,
  moments: readonly AlertMoment[],
): RuleTest {
  return { name, interval: "1m", input_series: inputSeries(world, steps), alert_rule_test: moments };
}

/** The idle alert of a team, with what the configuration of these tests leaves as it is. */
function idleAlert(cluster: string, team: string, gpus: string, advice: { text: string; url: string } | null) {
  const dashboard = `var-cluster=${cluster}&var-team=${encodeURIComponent(team).replaceAll("%20", "+")}&var-pool=A100`;
  return {
    exp_labels: { severity: "warning", area: "idle", action: "ticket", cluster, team, pool: "A100" },
    exp_annotations: {
      summary: "A team holds GPUs that have done nothing for a long time.",
      ...unnamed(
        `Team ${team} in ${cluster} holds ${gpus} idle GPUs of A100.`,
        `workloads?team=${encodeURIComponent(team).replaceAll("%20", "+")}`,
      ),
      recommendation: advice?.text ?? "No open recommendation answers this alert; the runbook says what to check.",
      recommendation_url: `https://fairlead.example.org/recommendations${advice?.url ?? ""}`,
      saving: "No saving is known.",
      runbook_url: "https://fairlead.example.org/runbooks/gpuidleallocated.md",
      dashboard_url: `https://grafana.example.org/d/fairlead-waste?${dashboard}`,
    },
  };
}

const idleAt = (eval_time: string, exp_alerts: AlertMoment["exp_alerts"]): AlertMoment => ({
  eval_time,
  alertname: "GpuIdleAllocated",
  exp_alerts,
});

function runIdle(config: AlertsConfig, tests: readonly RuleTest[]): ReadonlyMap<string, string> {
  return runPromtool(rulesOf("GpuIdleAllocated", config), "1m", tests);
}

describe.skipIf(!hasPromtool())("the rules", () => {
  test("say nothing of a cluster where all is well", () => {
    const own = {
      cluster: "east",
      scheduler: "kueue",
      kind: "ClusterQueue",
      queue: "ads",
      domain: "A100",
      team: "ads",
    };
    const well = [
      ...health(60),
      series("fairlead_team_gpus", { cluster: "east", team: "ads", pool: "A100", state: "active" }, 12),
      series("fairlead_team_gpus", { cluster: "east", team: "ads", pool: "A100", state: "idle" }, 0),
      series("fairlead_team_gpus", { cluster: "east", team: "ads", pool: "A100", state: "unobserved" }, 0),
      series("fairlead_unassigned_gpus", { cluster: "east" }, 0),
      series("fairlead_team_entitled_gpus", { cluster: "east", team: "ads", domain: "A100" }, 12),
      series("fairlead_team_fairness_deviation_gpus", { cluster: "east", team: "ads", domain: "A100" }, 0),
      series("fairlead_queue_actionable_shortfall_gpus", own, 0),
      series("fairlead_queue_allocated_gpus", own, 12),
      series("fairlead_queue_pending_gpus", own, 0),
      series("fairlead_queue_guaranteed_gpus", own, 12),
      series("fairlead_fairness_jain_index", { cluster: "east", domain: "A100" }, 1),
      series("fairlead_domain_capacity_gpus", { cluster: "east", domain: "A100" }, 16),
      series("fairlead_domain_info", { cluster: "east", domain: "A100", pool: "A100" }, 1),
      series("fairlead_pool_free_gpus", { cluster: "east", pool: "A100", part: "whole" }, 4),
      series("fairlead_stranded_gpus", { cluster: "east", pool: "A100", reason: "cpu" }, 0),
      series("fairlead_blocked_gpus", { cluster: "east", pool: "A100", blocker: "spread" }, 0),
      series("fairlead_nodes", { cluster: "east", node_pool: "train", state: "not_ready" }, 0),
      series("fairlead_stale_price_gpus", { cluster: "east", pool: "A100" }, 0),
    ];
    const moments = alertNames.map((alertname) => ({ eval_time: "2h", alertname, exp_alerts: [] }));
    const groups = [...recordingGroups(defaultAlerts), ...alertGroups(defaultAlerts)];
    expect(runPromtool(groups, "5m", [ruleTest("well", well, 122, moments)])).toEqual(new Map());
  });

  test.each(["queue-moment.prom", "small-moment.prom"])("can be evaluated on a page of Fairlead: %s", (name) => {
    const page = readFileSync(path.join(import.meta.dirname, "../../golden", name), "utf8");
    const scraped = 'instance="10.0.1.1:10836",pod="fairlead-0"';
    const samples = [...page.matchAll(/^(fairlead_\w+)\{(.*)\} (\S+)$/gm)].map(([, metric, labels, value]) => ({
      series: `${metric}{${labels},${scraped}}`,
      values: `${value}+0x5`,
    }));
    const cluster = /cluster="(\w+)"/.exec(page)?.[1] ?? "";
    const covered = { series: `fairlead_covered_seconds_total{cluster="${cluster}",${scraped}}`, values: "0+60x5" };
    const others = samples.filter(({ series: of }) => !of.startsWith("fairlead_covered_seconds_total"));
    const groups = [...recordingGroups(defaultAlerts), ...alertGroups(defaultAlerts)];
    const allocated = "cluster:fairlead_allocated_gpus:sum";
    const pageTest = {
      ...ruleTest(name, [], 5, []),
      input_series: [...others, covered],
      promql_expr_test: [
        {
          expr: `count by (cluster) (${allocated} or cluster_domain:fairlead_demand_gpus:sum)`,
          eval_time: "4m",
          exp_samples: [{ labels: `{cluster="${cluster}"}`, value: name === "queue-moment.prom" ? 3 : 1 }],
        },
      ],
    };
    expect(samples.length).toBeGreaterThan(100);
    expect(runPromtool(groups, "1m", [pageTest])).toEqual(new Map());
  });

  test("read the replica that has covered longest, and the other one when it is gone", () => {
    const covered = (of: string): WorldSeries => series("fairlead_covered_seconds_total", { cluster: "east" }, of);
    const world = [
      covered("6000+60x8 stale"),
      idle("east", "ads", "4+0x8 stale"),
      fromReplica(1, covered("0+60x30")),
      fromReplica(1, idle("east", "ads", 6)),
    ];
    const moments = [
      idleAt("8m", [idleAlert("east", "ads", "4", null)]),
      idleAt("12m", [idleAlert("east", "ads", "6", null)]),
    ];
    expect(runIdle(alertsSchema.parse(soon), [ruleTest("replicas", world, 30, moments)])).toEqual(new Map());
  });

  test("find the same under another name of the cluster's label", () => {
    const advised = recommendation({ cluster: "east", id: "idle-1", kind: "release_idle", title: "end it", gpus: 4 });
    const world = [...health(60), idle("east", "ads", 4), idle("west", "ads", 4), ...advised].map(
      ({ labels: { cluster, ...labels }, ...one }) => ({
        ...one,
        labels: {
          ...labels,
          k8s: cluster ?? "",
          ...(one.name.includes("recommendation_gpus") && { from_team: "ads" }),
        },
      }),
    );
    const renamed = (cluster: string, advice: { text: string; url: string } | null) => {
      const { exp_labels, exp_annotations } = idleAlert(cluster, "ads", "4", advice);
      const { cluster: _, ...labels } = exp_labels;
      return { exp_labels: { ...labels, k8s: cluster }, exp_annotations };
    };
    const moments = [
      idleAt("3m", [renamed("east", { text: "end it (gains 4 GPUs)", url: "/idle-1" }), renamed("west", null)]),
    ];
    const config = alertsSchema.parse({ ...soon, clusterLabel: "k8s" });
    expect(runIdle(config, [ruleTest("renamed", world, 5, moments)])).toEqual(new Map());
  });

  test("take any text for a text: names cannot change a query or a template", () => {
    const team = 'x"} or up # {{ $value }} \\ 100%';
    const advised = recommendation({
      cluster: "east",
      id: "a b/c",
      kind: "release_idle",
      title: 'say {{ .Value }} and "%q"',
      gpus: 3 / 7,
      from_team: team,
      pool: "A100",
    });
    const holder = { cluster: "east", team, pool: "A100", namespace: 'n"s', workload: "Job/{{ .Value }} <b>/%s" };
    const world = [...health(60), idle("east", team, 4), ...advised, series("fairlead_idle_workload_gpus", holder, 2)];
    const { exp_labels, exp_annotations } = idleAlert("east", team, "4", {
      text: 'say {{ .Value }} and "%q" (gains 0.43 GPUs)',
      url: "/a+b%2Fc",
    });
    const subject = 'n"s/{{ .Value }} <b>/%s (2 GPUs)';
    const description = `Team ${team} in east holds 4 idle GPUs of A100. Idle: ${subject}.`;
    const expected = { exp_labels, exp_annotations: { ...exp_annotations, description, subject } };
    const moments = [idleAt("3m", [expected])];
    expect(runIdle(alertsSchema.parse(soon), [ruleTest("texts", world, 5, moments)])).toEqual(new Map());
  });

  test("go on for as long as they are kept after the condition has ended, and then end", () => {
    const world = [...health(60), idle("east", "ads", "4+0x10 0+0x40")];
    const kept = alertsSchema.parse({ alerts: { GpuIdleAllocated: { for: "2m", keepFiringFor: "30m" } } });
    const { exp_labels, exp_annotations } = idleAlert("east", "ads", "4", null);
    const moments = [
      idleAt("12m", [{ exp_labels, exp_annotations }]),
      idleAt("40m", [{ exp_labels, exp_annotations }]),
      idleAt("42m", []),
    ];
    expect(runIdle(kept, [ruleTest("kept", world, 60, moments)])).toEqual(new Map());
  });

  test("do not fire on what is excluded", () => {
    const world = [...health(60), idle("east", "ads", 4), idle("east", "lab-1", 4), idle("west", "lab", 4)];
    const config = alertsSchema.parse({
      alerts: {
        GpuIdleAllocated: { ...soon.alerts.GpuIdleAllocated, exclude: { team: ["lab-.*"], cluster: ["west"] } },
      },
    });
    const moments = [idleAt("3m", [idleAlert("east", "ads", "4", null)])];
    expect(runIdle(config, [ruleTest("excluded", world, 5, moments)])).toEqual(new Map());
  });

  test("miss every cluster once none has been seen for a day", () => {
    const build = { cluster: "east", version: "1", node_version: "24" };
    const world = [
      series("fairlead_build_info", build, "1+0x10 stale"),
      series("fairlead_last_cycle_timestamp_seconds", { cluster: "east" }, "0+60x10 stale"),
    ];
    const down = (labels: Record<string, string>, who: string) => ({
      exp_labels: { ...labels, severity: "critical", area: "exporter", action: "page" },
      exp_annotations: {
        summary: "Fairlead's metrics are gone, or it has never completed a cycle: nothing else here can fire.",
        description: `${who} has no metrics, or none of a complete cycle.`,
        recommendation: "No open recommendation answers this alert; the runbook says what to check.",
        recommendation_url: "https://fairlead.example.org/recommendations",
        saving: "No saving is known.",
        runbook_url: "https://fairlead.example.org/runbooks/gpuexporterdown.md",
        dashboard_url: `https://grafana.example.org/d/fairlead-exporter?var-cluster=${labels.cluster ?? ""}`,
      },
    });
    const at = (eval_time: string, alert: ReturnType<typeof down>): AlertMoment => ({
      eval_time,
      alertname: "GpuExporterDown",
      exp_alerts: [alert],
    });
    const moments = [at("20h", down({ cluster: "east" }, "Fairlead of east")), at("30h", down({}, "Every Fairlead"))];
    const groups = rulesOf("GpuExporterDown", defaultAlerts);
    expect(runPromtool(groups, "5m", [ruleTest("down", world, 12, moments)])).toEqual(new Map());
  });
});
