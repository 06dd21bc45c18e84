import type { VariableJson } from "./grafana/types.ts";
import { type ChosenVariable, type VariableName, variableSources, variableTitles } from "./query/variables.ts";
import type { DashboardsConfig } from "./settings.ts";

/** The data source of every panel and query: the one that the reader chose. */
export const datasource = { type: "prometheus", uid: `\${datasource}` } as const;

/** What a reader can choose: the data source, the cluster, and what the dashboard has beside them. */
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
    // Series without the label match, too.
    allValue: ".*",
    sort: 1,
    // At each change of the time range: what was there then can be chosen.
    refresh: 2,
    hide: 0,
    skipUrlSync: false,
  };
}
