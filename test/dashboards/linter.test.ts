import { describe, expect, test } from "vitest";
import type { DashboardJson, PanelJson, TargetJson } from "../../dashboards/grafana/types.ts";
import { everyDashboard, isRow } from "./everyDashboard.ts";
import { linterExceptions, linterRules } from "./linterRules.ts";

const names = Object.keys(linterRules);

describe("the rules of Grafana's dashboard-linter", () => {
  test("all seventeen are here, and exceptions are of them", () => {
    expect(names).toHaveLength(17);
    expect(Object.keys(linterExceptions).filter((name) => !names.includes(name))).toEqual([]);
  });

  describe.each(everyDashboard.map(({ definition, json }) => [definition.name, json] as const))("%s", (_, json) => {
    test.each(names.filter((name) => linterExceptions[name] === undefined))("%s", (name) => {
      expect(linterRules[name]?.(json)).toEqual([]);
    });
  });

  test.each(Object.keys(linterExceptions))("%s still finds what it is excepted for", (name) => {
    expect(everyDashboard.flatMap(({ json }) => linterRules[name]?.(json) ?? [])).not.toEqual([]);
  });
});

describe("each rule finds what is wrong", () => {
  const [json] = everyDashboard.map((made) => made.json);
  if (json === undefined) throw new Error("no dashboard");
  const first = json.panels.find((panel): panel is PanelJson => !isRow(panel));
  if (first === undefined) throw new Error("no panel");
  const withPanel = (changed: Partial<PanelJson>): DashboardJson => ({ ...json, panels: [{ ...first, ...changed }] });
  const withTarget = (changed: Partial<TargetJson>): DashboardJson =>
    withPanel({ targets: (first.targets ?? []).map((target) => ({ ...target, ...changed })) });
  const withVariables = (change: (name: string) => object): DashboardJson => ({
    ...json,
    templating: { list: (json.templating.list ?? []).map((variable) => ({ ...variable, ...change(variable.name) })) },
  });
  const broken: Readonly<Record<string, DashboardJson>> = {
    "template-datasource-rule": withVariables((name) => (name === "datasource" ? { label: "Where from" } : {})),
    "template-label-promql-rule": withVariables(() => ({ definition: "label_values(sum(, cluster)" })),
    "template-on-time-change-reload-rule": withVariables(() => ({ refresh: 1 })),
    "panel-datasource-rule": withPanel({ datasource: { type: "prometheus", uid: "mine" } }),
    "panel-title-description-rule": withPanel({ description: "" }),
    "panel-no-targets-rule": withPanel({ targets: [] }),
    "target-logql-rule": withTarget({ datasource: { type: "loki", uid: "logs" } }),
    "target-logql-auto-rule": withTarget({ datasource: { type: "loki", uid: "logs" } }),
    "target-promql-rule": withTarget({ expr: "sum by (cluster (up)" }),
    "target-rate-interval-rule": withTarget({ expr: "rate(x_total[5m])" }),
    "target-counter-agg-rule": withTarget({ expr: "sum(x_total)" }),
  };

  test.each(names.filter((name) => linterExceptions[name] === undefined))("%s", (name) => {
    const wrong = broken[name];
    expect(wrong === undefined ? [] : linterRules[name]?.(wrong)).not.toEqual([]);
  });

  test("a rate over the interval that Grafana chooses is right", () => {
    expect(linterRules["target-rate-interval-rule"]?.(withTarget({ expr: "rate(x_total[$__rate_interval])" }))).toEqual(
      [],
    );
  });
});
