import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { alertNames } from "../../alerts/alertList.ts";
import { alertGroups, recordingGroups } from "../../alerts/ruleGroups.ts";
import { type AlertsConfig, alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { run } from "../../cli/run.ts";
import { captureIo } from "../cli/captureIo.ts";
import { readPromql } from "./promqlTree.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-alerts-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function alerts(settings: string | null) {
  const io = captureIo();
  const file = path.join(folder, "alerts.yaml");
  if (settings !== null) writeFileSync(file, settings);
  const output = path.join(folder, "out");
  const given = settings === null ? [] : ["--config.file", file];
  const code = await run(["alerts", ...given, "--output", output], io);
  return { code, out: io.stdout(), err: io.stderr().replaceAll(folder, "DIR"), output };
}

const rulesOf = (config: AlertsConfig) => alertGroups(config).flatMap(({ rules }) => rules);
const rule = (name: string, settings: unknown) => {
  const found = rulesOf(alertsSchema.parse(settings)).find(({ alert }) => alert === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};

describe("fairlead alerts", () => {
  test("writes without a configuration what is in alerts/dist", async () => {
    const { code, out, err, output } = await alerts(null);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("rules/fairlead-alerts.yaml");
    const dist = path.join(import.meta.dirname, "../../alerts/dist");
    for (const name of ["rules/fairlead-recording.yaml", "rules/fairlead-alerts.yaml", "prometheusrule.yaml"]) {
      expect(readFileSync(path.join(output, name), "utf8")).toBe(readFileSync(path.join(dist, name), "utf8"));
    }
  });

  test("a file of thresholds changes the rules", async () => {
    const { code, output } = await alerts(
      "alerts: { GpuTeamStarved: { for: 45m, allocatedBelow: 0.5, severity: info } }\n",
    );
    expect(code).toBe(0);
    const text = readFileSync(path.join(output, "rules/fairlead-alerts.yaml"), "utf8");
    const starved = text.slice(text.indexOf("alert: GpuTeamStarved\n"), text.indexOf("alert: GpuTeamStarvedLong"));
    expect(starved).toContain("for: 45m");
    expect(starved).toContain("severity: info");
    expect(starved).toContain("* 0.5)");
  });

  test("says all that is wrong at once, with path, found and expected, and writes nothing", async () => {
    const { code, out, err, output } = await alerts(
      [
        "clusterLabel: team",
        "interval: 5",
        "fairleadUrl: ftp://x",
        'labels: { team: x, note: "{{ $value }}" }',
        "alerts:",
        "  GpuTeamStarvd: {}",
        '  GpuTeamStarved: { for: 3x, allocatedBelow: 7, severity: bad, exclude: { pool: [a], team: ["("] } }',
        '  GpuIdleAllocated: { exclude: { team: ["(?=x)"] } }',
      ].join("\n"),
    );
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(existsSync(output)).toBe(false);
    expect(err.split("\n")).toEqual([
      "fairlead: configuration DIR/alerts.yaml has 12 errors",
      '  clusterLabel: is "team", which means something else, expected the label that distinguishes clusters',
      "  interval: is 5, expected a whole number from 1 on and a unit (s, m, h, d, w), such as 6h",
      expect.stringMatching(/^ {2}labels\.team: .*expected another$/),
      "  labels.note: is a template, expected a fixed text",
      expect.stringMatching(/^ {2}fairleadUrl: /),
      '  alerts.GpuTeamStarved.for: is "3x", expected a whole number and a unit (s, m, h, d, w), such as 30m',
      '  alerts.GpuTeamStarved.severity: found "bad", expected one of critical, warning, info',
      '  alerts.GpuTeamStarved.exclude.team[0]: is "(", expected a regular expression of RE2',
      "  alerts.GpuTeamStarved.exclude.pool: unknown setting",
      "  alerts.GpuTeamStarved.allocatedBelow: found 7, expected at most 1",
      '  alerts.GpuIdleAllocated.exclude.team[0]: is "(?=x)", expected a regular expression of RE2',
      '  alerts.GpuTeamStarvd: unknown setting, did you mean "GpuTeamStarved"?',
      "Nothing was written. Next step: change the file and give the command again.",
      "",
    ]);
  });

  test("a folder that cannot be written is an error with a next step", async () => {
    writeFileSync(path.join(folder, "out"), "a file");
    const { code, err } = await alerts(null);
    expect(code).toBe(1);
    expect(err).toMatch(/^fairlead: DIR\/out cannot be written: .*\nNext step: /);
  });
});

describe("settings of alerts", () => {
  test.each(alertNames)("%s can be left out", (name) => {
    const without = alertsSchema.parse({ alerts: { [name]: { enabled: false } } });
    expect(rulesOf(without).map(({ alert }) => alert)).toEqual(
      rulesOf(defaultAlerts).flatMap(({ alert }) => (alert === name ? [] : [alert])),
    );
    expect(recordingGroups(without)).toEqual(recordingGroups(defaultAlerts));
  });

  test.each(alertNames)("%s leaves out what is excluded, and is PromQL then", (name) => {
    const { expr } = rule(name, { alerts: { [name]: { exclude: { cluster: ["lab-.*", 'a"b'] } } } });
    expect(expr).toContain('cluster!~"lab-.*|a\\"b"');
    expect(readPromql(expr).errors).toBe(0);
    expect(rule(name, {}).expr).not.toContain("!~");
  });

  test("times, severity, action and labels are as they are set", () => {
    const settings = { for: "0s", keepFiringFor: "2h", severity: "critical", action: "page" };
    const changed = rule("GpuIdleAllocated", { labels: { namespace: "gpu" }, alerts: { GpuIdleAllocated: settings } });
    expect(changed.for).toBe("0s");
    expect(changed.keep_firing_for).toBe("2h");
    expect(changed.labels).toEqual({ namespace: "gpu", severity: "critical", action: "page", area: "idle" });
    expect(rule("GpuIdleAllocated", { alerts: { GpuIdleAllocated: { keepFiringFor: "0m" } } })).not.toHaveProperty(
      "keep_firing_for",
    );
  });

  test("the names of a recommendation's team are excluded as the team of its alert", () => {
    const { expr } = rule("GpuRecommendationIgnored", {
      alerts: { GpuRecommendationIgnored: { exclude: { team: ["lab"] } } },
    });
    expect(expr).toContain('saving_per_week:max{from_team!~"lab"}');
  });

  test("addresses are those of the configuration", () => {
    const { annotations } = rule("GpuTeamStarved", {
      fairleadUrl: "https://gpus.acme.test/fairlead/",
      runbookUrl: "https://wiki.acme.test/{alert}?v=1",
      dashboardUrl: "https://grafana.acme.test/d/{dashboard}?orgId=2",
    });
    expect(annotations.runbook_url).toBe("https://wiki.acme.test/gputeamstarved?v=1");
    expect(annotations.recommendation_url).toMatch(/^https:\/\/gpus\.acme\.test\/fairlead\/recommendations\{\{ with/);
    expect(annotations.dashboard_url).toMatch(
      /^https:\/\/grafana\.acme\.test\/d\/fairlead-fairness\?orgId=2&var-cluster=\{\{/,
    );
  });

  test("another name for the label of clusters is used everywhere, but in names and texts", () => {
    const config = alertsSchema.parse({
      clusterLabel: "k8s",
      alerts: { GpuTeamStarved: { exclude: { cluster: ["cluster"], team: ["a cluster"] } } },
    });
    for (const { expr } of recordingGroups(config).flatMap(({ rules }) => rules)) {
      expect(expr.replaceAll(/\bcluster(_[a-z_]+)?:/g, "")).not.toMatch(/\bcluster\b/);
    }
    const starved = rule("GpuTeamStarved", config);
    expect(starved.expr).toContain('{k8s!~"cluster", team!~"a cluster"}');
    for (const { annotations } of rulesOf(config)) {
      expect(Object.values(annotations).join("\n")).not.toMatch(/labels\.cluster\b|[({ ]cluster[=,)]/);
    }
    expect(starved.annotations.recommendation).toContain("{k8s=%[1]q, ");
  });
});
