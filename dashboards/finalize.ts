import { dashboardUid } from "../alerts/dashboardUid.ts";
import type { AlertsConfig } from "../alerts/thresholds.ts";
import { annotationsFor } from "./annotations.ts";
import { withoutClusterNames } from "./clusterNames.ts";
import type { DashboardDefinition, Section, Tools } from "./dashboard.ts";
import type { DashboardJson, GridPosJson, PanelJson, RowJson } from "./grafana/types.ts";
import { linkBar, pageLink, recommendationLink, tag, valueLink } from "./links.ts";
import type { PanelDraft, Size } from "./panel/draft.ts";
import { money } from "./panel/units.ts";
import { queriesFor } from "./query/queries.ts";
import type { VariableName } from "./query/variables.ts";
import { renameCluster } from "./renameCluster.ts";
import type { DashboardsConfig } from "./settings.ts";
import { datasource, variableModels } from "./variableModels.ts";

/** Columns of Grafana's grid. */
const columns = 24;

/** A dashboard as Grafana reads it: with ids, places, data sources, variables, annotations and links. */
export function finalize(
  definition: DashboardDefinition,
  config: DashboardsConfig,
  alerts: AlertsConfig,
): DashboardJson {
  const { name, title, description, variables, from, refresh } = definition;
  const dashboard: DashboardJson = {
    uid: dashboardUid(name),
    title,
    description,
    tags: [tag],
    timezone: config.timezone,
    editable: true,
    graphTooltip: 1,
    time: { from: config.from ?? from, to: config.to },
    timepicker: { refresh_intervals: ["30s", "1m", "5m", "15m", "1h"] },
    refresh: config.refresh ?? refresh,
    weekStart: "",
    fiscalYearStartMonth: 0,
    liveNow: false,
    schemaVersion: 39,
    version: 1,
    links: [linkBar],
    templating: { list: variableModels(variables, config) },
    annotations: { list: annotationsFor(name) },
    panels: placed(definition.sections(toolsOf(definition, config, alerts)), alerts.interval),
  };
  const named = config.severalClusters ? dashboard : withoutClusterNames(dashboard);
  return renameCluster(named, alerts.clusterLabel);
}

function toolsOf({ variables }: DashboardDefinition, config: DashboardsConfig, alerts: AlertsConfig): Tools {
  const all: readonly VariableName[] = ["cluster", ...variables];
  return {
    query: queriesFor(all),
    alerts,
    currency: config.currency,
    money: money(config.currency),
    seriesLink: (to, title, labels) => valueLink(to, title, labels, { variables: all, at: "series" }),
    rowLink: (to, title, labels) => valueLink(to, title, labels, { variables: all, at: "row" }),
    page: (path, title) => pageLink(alerts.fairleadUrl, path, title),
    recommendationLink: recommendationLink(alerts.fairleadUrl),
  };
}

/** Ids from 1 on and places, in the order in which panels are read. */
function placed(sections: readonly Section[], interval: string): readonly (PanelJson | RowJson)[] {
  const done: (PanelJson | RowJson)[] = [];
  let y = 0;
  let id = 1;
  for (const { title, collapsed, panels } of sections) {
    const head = title === null ? null : { id: id++, gridPos: { h: 1, w: columns, x: 0, y: y++ } };
    const flow = flowing(
      panels.map(({ size }) => size),
      y,
    );
    const bodies = panels.map((panel, index) => panelJson(panel, id + index, flow.places[index], interval));
    id += bodies.length;
    if (head !== null && title !== null) {
      done.push({ type: "row", title, collapsed, ...head, datasource, panels: collapsed ? bodies : [] });
    }
    if (head === null || !collapsed) done.push(...bodies);
    // A closed row takes up its head only; what follows moves when it is opened.
    if (head === null || !collapsed) y = flow.end;
  }
  return done;
}

/** From left to right; where a panel does not fit into its line, below the highest of that line. */
function flowing(
  sizes: readonly Size[],
  from: number,
): { readonly places: readonly GridPosJson[]; readonly end: number } {
  const places: GridPosJson[] = [];
  let [x, y, end] = [0, from, from];
  for (const [w, h] of sizes) {
    if (x + w > columns) {
      x = 0;
      y = end;
    }
    places.push({ h, w, x, y });
    x += w;
    end = Math.max(end, y + h);
  }
  return { places, end };
}

function panelJson(
  { type, title, description, targets, options, fieldConfig, transformations, links }: PanelDraft,
  id: number,
  gridPos: GridPosJson | undefined,
  interval: string,
): PanelJson {
  return {
    id,
    type,
    title,
    description,
    gridPos: gridPos ?? { h: 1, w: columns, x: 0, y: 0 },
    datasource,
    // Recorded series have no points closer than this.
    ...(targets.length === 0 ? {} : { interval, targets: targets.map((target) => ({ ...target, datasource })) }),
    options,
    fieldConfig,
    ...(transformations === undefined ? {} : { transformations }),
    ...(links === undefined ? {} : { links }),
  };
}
