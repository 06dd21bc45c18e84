import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { run } from "../../cli/run.ts";
import { dashboardList } from "../../dashboards/dashboardList.ts";
import { finalize } from "../../dashboards/finalize.ts";
import { fleet } from "../../dashboards/fleet.ts";
import { dashboardsSchema, defaultDashboards } from "../../dashboards/settings.ts";
import { readPromql } from "../alerts/promqlTree.ts";
import { captureIo } from "../cli/captureIo.ts";
import { filledIn, panelsOf } from "./everyDashboard.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "fairlead-dashboards-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Given {
  readonly settings?: string;
  readonly alerts?: string;
}

async function dashboards({ settings, alerts }: Given) {
  const io = captureIo();
  const output = path.join(folder, "out");
  const given = [
    ["--config.file", "dashboards.yaml", settings],
    ["--alerts.file", "alerts.yaml", alerts],
  ] as const;
  const args = given.flatMap(([flag, name, text]) => {
    if (text === undefined) return [];
    writeFileSync(path.join(folder, name), text);
    return [flag, path.join(folder, name)];
  });
  const code = await run(["dashboards", ...args, "--output", output], io);
  return { code, out: io.stdout(), err: io.stderr().replaceAll(folder, "DIR"), output };
}

describe("fairlead dashboards", () => {
  test("writes without a configuration what is in dashboards/dist", async () => {
    const { code, out, err, output } = await dashboards({});
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Next step: import");
    const dist = path.join(import.meta.dirname, "../../dashboards/dist");
    for (const name of ["fairlead-fleet.json", "fairlead-exporter.json", "provisioning/dashboards/fairlead.yaml"]) {
      expect(readFileSync(path.join(output, name), "utf8")).toBe(readFileSync(path.join(dist, name), "utf8"));
    }
  });

  test("says all that is wrong in both files at once, with path, found and expected, and writes nothing", async () => {
    const { code, out, err, output } = await dashboards({
      settings: "currency: '$'\nrefresh: often\ncolour: red\n",
      alerts: "interval: 5\n",
    });
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toContain("DIR/dashboards.yaml has 3 errors");
    expect(err).toMatch(/currency: .*USD/);
    expect(err).toMatch(/refresh: .*1m/);
    expect(err).toContain("colour");
    expect(err).toContain("DIR/alerts.yaml has 1 error");
    expect(err).toMatch(/interval: is 5, expected/);
    expect(existsSync(output)).toBe(false);
  });

  test("takes limits and addresses from the file of the alerts", async () => {
    const { output } = await dashboards({
      alerts: "fairleadUrl: https://gpus.acme.com\nalerts: { GpuTeamStarved: { allocatedBelow: 0.55 } }\n",
    });
    const text = readFileSync(path.join(output, "fairlead-fleet.json"), "utf8");
    expect(text).toContain("Amber below 55 %.");
    expect(text).toContain(`https://gpus.acme.com/recommendations/\${__data.fields.id:percentencode}`);
    expect(text).not.toContain("fairlead.example.org/recommendations");
  });
});

describe("settings", () => {
  test("an alert that is turned off judges nothing", () => {
    const alerts = alertsSchema.parse({ alerts: { GpuTeamStarved: { enabled: false } } });
    const fairness = panelsOf(finalize(fleet, defaultDashboards, alerts)).find(
      ({ title }) => title === "Worst-off team, part of its share",
    );
    expect(fairness?.description).not.toContain("Alert:");
    expect(fairness?.fieldConfig?.defaults.thresholds?.steps).toEqual([{ value: null, color: "blue" }]);
  });

  test("currency, time, refresh and data source are those of the configuration", () => {
    const config = dashboardsSchema.parse({
      currency: "EUR",
      from: "now-2d",
      refresh: "",
      datasource: "Thanos",
      timezone: "Europe/Berlin",
    });
    const json = finalize(fleet, config, defaultAlerts);
    expect(json).toMatchObject({ time: { from: "now-2d", to: "now" }, refresh: "", timezone: "Europe/Berlin" });
    expect(json.templating.list?.[0]?.current).toMatchObject({ text: "Thanos", value: "Thanos" });
    const text = JSON.stringify(json);
    expect(text).toContain('"currencyEUR"');
    expect(text).not.toMatch(/USD/);
  });

  test("your own dashboards of GPUs and nodes are linked to where their uids are given, and only then", () => {
    const linksOf = (config: object) => finalize(fleet, dashboardsSchema.parse(config), defaultAlerts).links ?? [];
    expect(linksOf({}).map(({ title }) => title)).toEqual(["Fairlead"]);
    expect(linksOf({ gpuDashboard: "Oxed_c6Wz" }).slice(1)).toMatchObject([
      { title: "GPUs", type: "link", url: "/d/Oxed_c6Wz", keepTime: true, includeVars: false },
    ]);
    expect(linksOf({ gpuDashboard: "a", nodeDashboard: "b" }).map(({ url }) => url)).toEqual(["", "/d/a", "/d/b"]);
    expect(dashboardsSchema.safeParse({ gpuDashboard: "a/../b" }).success).toBe(false);
  });

  test("a currency that Grafana does not know is before the amount", () => {
    const json = finalize(fleet, dashboardsSchema.parse({ currency: "credits" }), defaultAlerts);
    expect(JSON.stringify(json)).toContain('"unit":"currency:credits "');
  });

  test.each(dashboardList.map((definition) => [definition.name, definition] as const))(
    "%s: another name for the label of clusters, everywhere but in the name of the variable",
    (_, definition) => {
      const alerts = alertsSchema.parse({ clusterLabel: "k8s_cluster" });
      const usual = finalize(definition, defaultDashboards, defaultAlerts);
      const json = finalize(definition, defaultDashboards, alerts);
      const old = JSON.stringify(usual);
      const text = JSON.stringify(json);
      for (const { targets, title } of panelsOf(json)) {
        for (const { expr, legendFormat } of targets ?? []) {
          const { selectors, aggregations, joins } = readPromql(filledIn(expr));
          const labels = [...selectors.map((of) => of.labels), ...aggregations, ...joins].flatMap((of) => of ?? []);
          expect(labels, title).not.toContain("cluster");
          expect(labels, title).toContain("k8s_cluster");
          expect(legendFormat).not.toContain("{{cluster}}");
        }
      }
      expect(text).not.toMatch(/\.cluster:percentencode|\{\{cluster\}\}|"cluster":(?!\[)/);
      // Nothing but that label has changed.
      expect(text.replaceAll("k8s_cluster", "cluster")).toBe(old);
      expect(json.templating.list?.map(({ name }) => name)).toEqual(usual.templating.list?.map(({ name }) => name));
    },
  );
});
