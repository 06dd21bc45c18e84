import type { VariableJson } from "./grafana/types.ts";
import { type ChosenVariable, type VariableName, variableSources, variableTitles } from "./query/variables.ts";
import type { DashboardsConfig } from "./settings.ts";

/** The data source of every panel and query: the one that the reader chose. */
export const datasource = { type: "prometheus", uid: `\${datasource}` } as const;

/** The variables that a reader can choose: the data source, the cluster, and the further ones of the dashboard. */
export function variableModels(chosen: readonly ChosenVariable[], config: DashboardsConfig): readonly VariableJson[] {
  const names: readonly VariableName[] = ["cluster", ...chosen];
  return [datasourceModel(config.datasource), ...names.map(labelModel)];
}

function datasourceModel(name: string): VariableJson {
  return {
    type: "datasource",
    name: "datasource",
    label: "Data source",
    query: "prometheus",
    regex: "",
    current: { selected: false, text: name, value: name },
    options: [],
    includeAll: false,
    multi: false,
    hide: 0,
    refresh: 1,
    skipUrlSync: false,
  };
}

function labelModel(name: VariableName): VariableJson {
  const query = `label_values(${variableSources[name]}, ${name})`;
  return {
    type: "query",
    name,
    label: variableTitles[name],
    datasource,
    query: { query, refId: "PrometheusVariableQueryEditor-VariableQuery" },
    definition: query,
    regex: "",
    current: { selected: true, text: ["All"], value: ["$__all"] },
    options: [],
    multi: true,
    includeAll: true,
    // This also matches series without the label.
    allValue: ".*",
    sort: 1,
    // The values are read again at each change of the time range, so that what existed then can be chosen.
    refresh: 2,
    hide: 0,
    skipUrlSync: false,
  };
}
