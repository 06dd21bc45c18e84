import type { DashboardJson, PanelJson, VariableJson } from "../../dashboards/grafana/types.ts";
import { readPromql } from "../alerts/promqlTree.ts";
import { filledIn, panelsOf } from "./everyDashboard.ts";

/**
 * The rules of Grafana's dashboard-linter (https://github.com/grafana/dashboard-linter, docs/index.md and lint/rule_*.go as of
 * commit 4d0844b of 2026-06-18), by their names there: what each finds wrong. They apply to panels of all types here, where the
 * linter leaves some types out.
 */
export const linterRules: Readonly<Record<string, (dashboard: DashboardJson) => readonly string[]>> = {
  // lint/rule_template_datasource.go
  "template-datasource-rule": (json) => {
    const found = variablesOf(json, "datasource");
    const wrong = found.filter(
      ({ name, label }) =>
        !["datasource", "prometheus_datasource"].includes(name) ||
        !["Data source", "Prometheus data source"].includes(label ?? ""),
    );
    return found.length === 1 ? wrong.map(({ name }) => name) : [`${found.length} variables for data sources`];
  },
  // lint/rule_template_job.go, lint/rule_template_instance.go
  "template-job-rule": (json) => missingVariable(json, "job"),
  "template-instance-rule": (json) => missingVariable(json, "instance"),
  // lint/rule_template_label_promql.go
  "template-label-promql-rule": (json) =>
    variablesOf(json, "query").flatMap(({ name, definition = "" }) => {
      const [, series] = /^label_values\((.+), \w+\)$/.exec(definition) ?? [];
      return series !== undefined && readPromql(filledIn(series)).errors === 0 ? [] : [`${name}: ${definition}`];
    }),
  // lint/rule_template_on_time_change_reload.go
  "template-on-time-change-reload-rule": (json) =>
    variablesOf(json, "query").flatMap(({ name, refresh }) => (refresh === 2 ? [] : [name])),
  // lint/rule_panel_datasource.go
  "panel-datasource-rule": (json) => panels(json, ({ datasource }) => datasource?.uid !== `\${datasource}`),
  // lint/rule_panel_title_description.go; a panel of words says all in them
  "panel-title-description-rule": (json) =>
    panels(json, ({ type, title, description }) => !title || (type !== "text" && !description)),
  // lint/rule_panel_units.go, which has the units of grafana-data/src/valueFormats/categories.ts
  "panel-units-rule": (json) =>
    panels(json, ({ type, fieldConfig }) => type !== "text" && !knownUnits.includes(fieldConfig?.defaults.unit ?? "")),
  // lint/rule_panel_no_targets.go
  "panel-no-targets-rule": (json) => panels(json, ({ type, targets = [] }) => type !== "text" && targets.length === 0),
  // lint/rule_target_logql.go, lint/rule_target_logql_auto.go: they speak of queries of Loki
  "target-logql-rule": (json) => targets(json, (_, { datasource }) => datasource?.type !== "prometheus"),
  "target-logql-auto-rule": (json) => targets(json, (_, { datasource }) => datasource?.type !== "prometheus"),
  // lint/rule_target_promql.go
  "target-promql-rule": (json) => targets(json, (text) => readPromql(text).errors > 0),
  // lint/rule_target_rate_interval.go
  "target-rate-interval-rule": (json) =>
    targets(json, (_, { expr }) =>
      [...expr.matchAll(/\bi?rate\([^[]*\[([^\]]*)\]/g)].some(([, window]) => window !== "$__rate_interval"),
    ),
  // lint/rule_target_job_instance.go
  "target-job-rule": (json) => withoutMatcher(json, "job"),
  "target-instance-rule": (json) => withoutMatcher(json, "instance"),
  // lint/rule_target_counter_agg.go
  "target-counter-agg-rule": (json) =>
    targets(json, (text) =>
      readPromql(text).selectors.some(
        ({ name, rangeFunction }) =>
          name.endsWith("_total") && !["rate", "irate", "increase"].includes(rangeFunction ?? ""),
      ),
    ),
  // lint/rule_uneditable.go
  "uneditable-dashboard": ({ editable }) => (editable === false ? [] : ["is editable"]),
};

/** Rules that ours break, and why they may. */
export const linterExceptions: Readonly<Record<string, string>> = {
  "template-job-rule": "the recording rules have chosen the replica: recorded series have no job",
  "template-instance-rule": "as for the job; panels of each replica show all replicas of a cluster",
  "target-job-rule": "the recording rules have chosen the replica: recorded series have no job",
  "target-instance-rule": "as for the job",
  "panel-units-rule":
    "GPUs, GPU-hours and dates have units of Grafana's form `suffix:` and `time:`, which the linter does not list",
  "uneditable-dashboard":
    "files and the sidecar let nobody save over them anyway, and who may not edit cannot look into a query",
};

// Of the list of the linter those that our units are among.
const knownUnits = ["none", "string", "percentunit", "bytes", "s", "dthms", "currencyUSD", "currencyEUR"];

function variablesOf({ templating }: DashboardJson, type: string): readonly VariableJson[] {
  return (templating.list ?? []).filter((variable) => variable.type === type);
}

function missingVariable(json: DashboardJson, name: string): readonly string[] {
  return variablesOf(json, "query").some((variable) => variable.name === name) ? [] : [`no variable ${name}`];
}

function panels(json: DashboardJson, isWrong: (panel: PanelJson) => boolean): readonly string[] {
  return panelsOf(json).flatMap((panel) => (isWrong(panel) ? [panel.title ?? `panel ${panel.id}`] : []));
}

type Target = NonNullable<PanelJson["targets"]>[number];

function targets(json: DashboardJson, isWrong: (text: string, target: Target) => boolean): readonly string[] {
  return panels(json, (panel) => (panel.targets ?? []).some((target) => isWrong(filledIn(target.expr), target)));
}

function withoutMatcher(json: DashboardJson, label: string): readonly string[] {
  return targets(json, (text) => readPromql(text).selectors.some(({ labels }) => !labels.includes(label)));
}
