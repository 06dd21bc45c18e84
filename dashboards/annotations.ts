import { alertNames, areas, listedAlert } from "../alerts/alertList.ts";
import type { DashboardName } from "../alerts/dashboardUid.ts";
import { type Expression, filter, matches, oneOf, selectorText } from "../exporter/catalogue/promql.ts";
import { offset } from "../exporter/catalogue/promqlSeries.ts";
import type { AnnotationJson } from "./grafana/types.ts";
import { colours } from "./panel/colours.ts";
import { queriesFor } from "./query/queries.ts";
import { datasource } from "./variableModels.ts";

/**
 * The events that are marked in every panel over time: alerts that fired, and changes after which numbers have another meaning.
 */
export function annotationsFor(dashboard: DashboardName): readonly AnnotationJson[] {
  return [
    marks("Alerts", firingAlerts(alertsOn(dashboard)), colours.act, {
      title: "{{alertname}} ({{severity}})",
      text: "{{cluster}} {{team}} {{queue}} {{pool}}",
      tags: "alertname,severity",
    }),
    marks("Activity signal changed", changedSignal().text, colours.other, {
      title: "Activity is now measured by {{signal}}",
      text: "{{cluster}}: utilisation before and after is not the same measure.",
      tags: "signal",
    }),
    marks("Version changed", changedVersion().text, colours.neutral, {
      title: "Fairlead {{version}}",
      text: "{{cluster}}: another version answers from here on.",
      tags: "version",
    }),
  ];
}

/** The alerts that are marked on a dashboard: the fleet shows all alerts, every other dashboard those that lead to it. */
function alertsOn(dashboard: DashboardName): readonly [label: string, among: readonly string[]] {
  const own = alertNames.filter((name) => listedAlert(name).dashboard === dashboard);
  return dashboard === "fleet" || own.length === 0 ? ["area", areas] : ["alertname", own];
}

function firingAlerts([label, among]: readonly [label: string, among: readonly string[]]): string {
  return selectorText("ALERTS", [
    ["alertstate", "firing"],
    [label, oneOf(among)],
    ["alertname", matches("Gpu.+")],
    ["cluster", matches("$cluster")],
  ]);
}

const query = queriesFor(["cluster"]);

/** Signals that were not there ten minutes ago, while another one was. */
function changedSignal(): Expression<"cluster" | "signal"> {
  const signals = query.recorded("cluster_signal:fairlead_activity_signal_info:max");
  const before = offset(signals, "10m");
  return filter(filter(signals, "unless", before, ["cluster", "signal"]), "and", before, ["cluster"]);
}

function changedVersion(): Expression<"cluster" | "version" | "node_version"> {
  const versions = query.recorded("cluster_version_node_version:fairlead_build_info:max");
  const before = offset(versions, "10m");
  return filter(filter(versions, "unless", before, ["cluster", "version"]), "and", before, ["cluster"]);
}

function marks(
  name: string,
  expr: string,
  iconColor: string,
  says: { readonly title: string; readonly text: string; readonly tags: string },
): AnnotationJson {
  return {
    name,
    datasource,
    enable: true,
    hide: false,
    iconColor,
    target: { refId: "Anno", expr, interval: "1m" },
    expr,
    step: "1m",
    titleFormat: says.title,
    textFormat: says.text,
    tagKeys: says.tags,
    useValueForTime: false,
  };
}
