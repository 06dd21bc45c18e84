import { defaultAlerts } from "../../alerts/thresholds.ts";
import type { DashboardDefinition } from "../../dashboards/dashboard.ts";
import { dashboardList } from "../../dashboards/dashboardList.ts";
import { finalize } from "../../dashboards/finalize.ts";
import type { DashboardJson, DataLinkJson, PanelJson, RowJson } from "../../dashboards/grafana/types.ts";
import { defaultDashboards } from "../../dashboards/settings.ts";

/** A dashboard at its default settings, and what it was made of. */
export interface MadeDashboard {
  readonly definition: DashboardDefinition;
  readonly json: DashboardJson;
}

/** A dashboard at the default settings, but with the name of the cluster wherever it can be. */
export function made(definition: DashboardDefinition): MadeDashboard {
  return { definition, json: finalize(definition, { ...defaultDashboards, severalClusters: true }, defaultAlerts) };
}

/** All of them. */
export const everyDashboard: readonly MadeDashboard[] = dashboardList.map(made);

export function isRow(panel: PanelJson | RowJson): panel is RowJson {
  return "panels" in panel;
}

/** All panels, those of closed rows, too, without the rows' heads. */
export function panelsOf(json: DashboardJson): readonly PanelJson[] {
  return json.panels.flatMap((panel) => (isRow(panel) ? panel.panels : [panel]));
}

/** Every panel of every dashboard, by `dashboard: title`. */
export const everyPanel: readonly (readonly [string, PanelJson])[] = everyDashboard.flatMap(({ definition, json }) =>
  panelsOf(json).map((panel) => [`${definition.name}: ${panel.title ?? ""}`, panel] as const),
);

/** Every query of every panel, by dashboard, panel and refId. */
export const everyQuery: readonly (readonly [string, string])[] = everyPanel.flatMap(([name, { targets }]) =>
  (targets ?? []).map(({ refId, expr }) => [`${name} ${refId ?? ""}`, expr] as const),
);

/** The query of every annotation. */
export const everyAnnotation: readonly (readonly [string, string])[] = everyDashboard.flatMap(({ definition, json }) =>
  json.annotations.list.map(({ name, expr }) => [`${definition.name}: ${name}`, expr ?? ""] as const),
);

/** All links of a panel: of its values and of its columns. */
export function linksOf({ fieldConfig }: PanelJson): readonly DataLinkJson[] {
  const ofColumns = (fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
    properties.flatMap(({ id, value }) => (id === "links" && Array.isArray(value) ? value : [])),
  );
  return [...(fieldConfig?.defaults.links ?? []), ...ofColumns];
}

/** What a query is like when Grafana sends it: with lengths of time and chosen values. */
export function filledIn(
  expr: string,
  {
    range = "1h",
    variables = {},
  }: { readonly range?: string; readonly variables?: Readonly<Record<string, string>> } = {},
): string {
  return expr
    .replaceAll("$__rate_interval", "5m")
    .replaceAll("$__interval", "1m")
    .replaceAll("$__range_s", `${secondsIn(range)}`)
    .replaceAll("$__range", range)
    .replaceAll(/\$(\w+)/g, (_, name: string) => variables[name] ?? ".*");
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsIn(range: string): number {
  const seconds = Number(range.slice(0, -1)) * (unitSeconds[range.slice(-1)] ?? Number.NaN);
  if (Number.isNaN(seconds)) throw new Error(`no length of time: ${range}`);
  return seconds;
}
