import { renameClusterLabel } from "../alerts/clusterLabel.ts";
import { type DashboardName, dashboardUid } from "../alerts/dashboardUid.ts";
import type { AlertsConfig } from "../alerts/thresholds.ts";
import { annotationsFor } from "./annotations.ts";
import { withoutClusterNames } from "./clusterNames.ts";
import type { DashboardDefinition, LinkLabels, Section, Tools } from "./dashboard.ts";
import type {
  AnnotationJson,
  DashboardJson,
  GridPosJson,
  LinkJson,
  PanelJson,
  RowJson,
  TransformationJson,
  VariableJson,
} from "./grafana/types.ts";
import type { PanelDraft, Size, ValueLink } from "./panel/draft.ts";
import { money } from "./panel/units.ts";
import { queriesFor } from "./query/queries.ts";
import { isVariable, type VariableName } from "./query/variables.ts";
import type { DashboardsConfig } from "./settings.ts";
import { datasource, variableModels } from "./variableModels.ts";

/** The number of columns of Grafana's grid. */
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
    tags: [dashboardTag],
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
    links: [linkBar, ...ownDashboards(name, config)],
    templating: { list: variableModels(variables, config) },
    annotations: { list: annotationsFor(name) },
    panels: placed(definition.sections(toolsOf(definition, config, alerts)), alerts.interval),
  };
  const named = config.severalClusters ? dashboard : withoutClusterNames(dashboard);
  return renameCluster(named, alerts.clusterLabel);
}

/**
 * A dashboard with another name for the label `cluster`: in queries, legends, links, annotations and columns. The variable
 * keeps the name `$cluster`, by which links and alerts know it.
 */
function renameCluster(dashboard: DashboardJson, label: string): DashboardJson {
  if (label === "cluster") return dashboard;
  return {
    ...dashboard,
    templating: { list: (dashboard.templating.list ?? []).map((variable) => inVariable(variable, label)) },
    annotations: { list: dashboard.annotations.list.map((annotation) => inAnnotation(annotation, label)) },
    panels: dashboard.panels.map((panel) => ("panels" in panel ? inRow(panel, label) : inPanel(panel, label))),
  };
}

function inRow(row: RowJson, label: string): RowJson {
  return { ...row, panels: row.panels.map((panel) => inPanel(panel, label)) };
}

function inPanel(panel: PanelJson, label: string): PanelJson {
  const { targets, fieldConfig, transformations } = panel;
  return {
    ...panel,
    ...(targets === undefined
      ? {}
      : {
          targets: targets.map((target) => ({
            ...target,
            expr: renameClusterLabel(target.expr, label),
            ...(target.legendFormat === undefined ? {} : { legendFormat: inTemplate(target.legendFormat, label) }),
          })),
        }),
    ...(fieldConfig === undefined ? {} : { fieldConfig: inLinks(fieldConfig, label) }),
    ...(transformations === undefined ? {} : { transformations: transformations.map((one) => inColumns(one, label)) }),
  };
}

function inVariable(variable: VariableJson, label: string): VariableJson {
  const { query, definition } = variable;
  if (definition === undefined || typeof query !== "object") return variable;
  const renamed = renameClusterLabel(definition, label);
  return { ...variable, query: { ...query, query: renamed }, definition: renamed };
}

function inAnnotation(annotation: AnnotationJson, label: string): AnnotationJson {
  const expr = renameClusterLabel(annotation.expr ?? "", label);
  return {
    ...annotation,
    expr,
    ...(annotation.target === undefined ? {} : { target: { ...annotation.target, expr } }),
    titleFormat: inTemplate(annotation.titleFormat ?? "", label),
    textFormat: inTemplate(annotation.textFormat ?? "", label),
  };
}

/** A transformation with the other name in the columns that it hides, orders and renames. */
function inColumns({ id, options }: TransformationJson, label: string): TransformationJson {
  const renamed = Object.entries(options).map(([option, value]) => [option, inKeys(value, label)]);
  return { id, options: Object.fromEntries(renamed) };
}

function inKeys(value: unknown, label: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key === "cluster" ? label : key, of]));
}

function inTemplate(template: string, label: string): string {
  return template.replaceAll("{{cluster}}", `{{${label}}}`);
}

/** A value with the other name in its links and in the names of hidden columns; no other text in it has these forms. */
function inLinks<Value>(value: Value, label: string): Value {
  const text = JSON.stringify(value);
  return JSON.parse(
    text
      .replaceAll(/(__field\.labels|__data\.fields)\.cluster\b/g, (_, place: string) => `${place}.${label}`)
      .replaceAll('{"id":"byName","options":"cluster"}', JSON.stringify({ id: "byName", options: label })),
  );
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

/** The tag by which dashboards find each other. */
const dashboardTag = "fairlead";

/** The bar of links to the other dashboards: chosen values and time go along. */
const linkBar: LinkJson = {
  title: "Fairlead",
  type: "dashboards",
  icon: "external link",
  tooltip: "",
  url: "",
  tags: [dashboardTag],
  asDropdown: false,
  targetBlank: false,
  includeVars: true,
  keepTime: true,
};

/** The dashboards with links to people's own dashboards of nodes and GPUs, which Fairlead only counts together. */
const linkingToOwn: readonly DashboardName[] = ["fleet", "waste", "exporter"];

function ownDashboards(name: DashboardName, { gpuDashboard, nodeDashboard }: DashboardsConfig): readonly LinkJson[] {
  if (!linkingToOwn.includes(name)) return [];
  const own = [
    ["GPUs", gpuDashboard],
    ["Nodes", nodeDashboard],
  ] as const;
  return own.flatMap(([title, uid]) =>
    uid === undefined
      ? []
      : [
          {
            ...linkBar,
            title,
            type: "link" as const,
            icon: "dashboard",
            url: `/d/${uid}`,
            tags: [],
            includeVars: false,
          },
        ],
  );
}

/**
 * A link from a value to a dashboard. Variables that the labels do not give keep their chosen values; Grafana fills in all of
 * them, and encodes them.
 */
function valueLink(
  to: DashboardName,
  title: string,
  labels: LinkLabels,
  from: { readonly variables: readonly VariableName[]; readonly at: "series" | "row" },
): ValueLink {
  const given = Object.entries(labels).flatMap(([variable, label]) =>
    label === undefined || !isVariable(variable)
      ? []
      : [`var-${variable}=\${${linkPlaces[from.at]}.${label}:percentencode}`],
  );
  const kept = from.variables
    .filter((variable) => labels[variable] === undefined)
    .map((variable) => `\${${variable}:queryparam}`);
  const query = [`\${datasource:queryparam}`, ...kept, ...given, `\${__url_time_range}`];
  return { title, url: `/d/${dashboardUid(to)}?${query.join("&")}` };
}

/** A link to a page of Fairlead. */
function pageLink(fairleadUrl: string, path: string, title: string): ValueLink {
  return { title, url: `${fairleadUrl.replace(/\/+$/, "")}${path}` };
}

/** A link from a row to the recommendation that it names. */
function recommendationLink(fairleadUrl: string): ValueLink {
  return pageLink(fairleadUrl, `/recommendations/\${__data.fields.id:percentencode}`, "What to do, in Fairlead");
}

const linkPlaces = { series: "__field.labels", row: "__data.fields" } as const;

/** The panels with ids from 1 on and with places, in the order in which they are read. */
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
    // A closed row only takes up its head; the panels below it move when it is opened.
    if (head === null || !collapsed) y = flow.end;
  }
  return done;
}

/** Places from left to right. A panel that does not fit into its line is placed below the highest panel of that line. */
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
    // Recorded series have no points that are closer together than this.
    ...(targets.length === 0 ? {} : { interval, targets: targets.map((target) => ({ ...target, datasource })) }),
    options,
    fieldConfig,
    ...(transformations === undefined ? {} : { transformations }),
    ...(links === undefined ? {} : { links }),
  };
}
