import { renameClusterLabel } from "../alerts/clusterLabel.ts";
import type {
  AnnotationJson,
  DashboardJson,
  PanelJson,
  RowJson,
  TransformationJson,
  VariableJson,
} from "./grafana/types.ts";

/**
 * A dashboard with another name for the label `cluster`: in queries, legends, links, annotations and columns. The variable
 * stays `$cluster`: links and alerts know it by that name.
 */
export function renameCluster(dashboard: DashboardJson, label: string): DashboardJson {
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

/** Names of columns that a transformation hides, orders and renames. */
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

/** Links and the names of hidden columns; nothing else in there has such a text. */
function inLinks<Value>(value: Value, label: string): Value {
  const text = JSON.stringify(value);
  return JSON.parse(
    text
      .replaceAll(/(__field\.labels|__data\.fields)\.cluster\b/g, (_, place: string) => `${place}.${label}`)
      .replaceAll('{"id":"byName","options":"cluster"}', JSON.stringify({ id: "byName", options: label })),
  );
}
