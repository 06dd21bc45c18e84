import type { LabelName } from "../../exporter/catalogue/labels.ts";
import { metric } from "../../exporter/catalogue/promql.ts";

/** The variables that a reader can choose on a dashboard, beside the data source: each is a label of the same name. */
export const variableTitles = {
  cluster: "Cluster",
  team: "Team",
  queue: "Queue",
  domain: "Quota domain",
  pool: "GPU pool",
  node_pool: "Node pool",
} as const satisfies Readonly<Partial<Record<LabelName, string>>>;

export type VariableName = keyof typeof variableTitles;

/** A variable besides the cluster, which every dashboard has; its values depend on the chosen cluster. */
export type ChosenVariable = Exclude<VariableName, "cluster">;

const cluster = { cluster: { operator: "=~", value: "$cluster" } } as const;

/** The series whose label gives a variable its values. */
export const variableSources: Readonly<Record<VariableName, string>> = {
  // This recorded series of a cluster still exists while its metrics are missing.
  cluster: "cluster:fairlead_build_info:max",
  // Teams that hold nothing are included, because people ask why they hold nothing.
  team: `{__name__=~"fairlead_team_gpus|fairlead_team_entitled_gpus|fairlead_team_pending_gpus", cluster=~"$cluster"}`,
  queue: metric("fairlead_queue_allocated_gpus", cluster).text,
  domain: metric("fairlead_domain_info", cluster).text,
  pool: metric("fairlead_pool_info", cluster).text,
  node_pool: metric("fairlead_nodes", cluster).text,
};

export function isVariable(label: string): label is VariableName {
  return Object.hasOwn(variableTitles, label);
}
