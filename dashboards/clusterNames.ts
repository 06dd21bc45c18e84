import type { DashboardJson, OverrideJson, PanelJson } from "./grafana/types.ts";

const inLegend = " ({{cluster}})";
const column = "Cluster";

/**
 * A dashboard without the names of clusters in legends and tables, where they take space and are useless if there is only one
 * cluster. Queries, links and the variable keep them, so that whoever has two clusters sees both.
 */
export function withoutClusterNames(dashboard: DashboardJson): DashboardJson {
  return {
    ...dashboard,
    panels: dashboard.panels.map((panel) =>
      "panels" in panel ? { ...panel, panels: panel.panels.map(unnamed) } : unnamed(panel),
    ),
  };
}

function unnamed(panel: PanelJson): PanelJson {
  const { targets, fieldConfig, type } = panel;
  const isNamed = type === "table" && JSON.stringify(panel.transformations ?? []).includes(`"cluster":"${column}"`);
  return {
    ...panel,
    ...(targets === undefined
      ? {}
      : {
          targets: targets.map((target) =>
            target.legendFormat === undefined
              ? target
              : { ...target, legendFormat: target.legendFormat.replace(inLegend, "") },
          ),
        }),
    ...(fieldConfig === undefined || !isNamed
      ? {}
      : { fieldConfig: { ...fieldConfig, overrides: [...fieldConfig.overrides, hiddenColumn] } }),
  };
}

/**
 * The properties that hide a column: the first is Grafana's name for it up to version 12, the second from then on; each version
 * ignores the other.
 */
export const hiddenProperties: OverrideJson["properties"] = [
  { id: "custom.hidden", value: true },
  { id: "custom.hideFrom", value: { viz: true, legend: true, tooltip: true } },
];

const hiddenColumn: OverrideJson = { matcher: { id: "byName", options: column }, properties: hiddenProperties };
