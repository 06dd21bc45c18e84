import type { ObjectKind } from "../../model/cluster.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../../model/queues/queueObjects.ts";
import type { RowTable } from "./objectTable.ts";
import type { OwnerLookup } from "./owners.ts";
import type { PodTable } from "./podTable.ts";
import type { KubernetesState } from "./state.ts";

/** The tables behind the state, one for each array. */
export interface StateTables {
  readonly nodes: RowTable<KubernetesState["nodes"][number]>;
  readonly pods: PodTable;
  readonly namespaces: RowTable<KubernetesState["namespaces"][number]>;
  readonly priorityClasses: RowTable<KubernetesState["priorityClasses"][number]>;
  readonly podDisruptionBudgets: RowTable<KubernetesState["podDisruptionBudgets"][number]>;
  readonly resourceClaims: RowTable<KubernetesState["resourceClaims"][number]>;
  readonly resourceSlices: RowTable<KubernetesState["resourceSlices"][number]>;
}

const none: readonly never[] = [];

/** The state of this moment. Arrays are the tables' own, so that an unchanged kind keeps its array. */
export function stateOf(
  tables: StateTables,
  owners: OwnerLookup,
  known: ReadonlySet<ObjectKind>,
  resourceVersions: KubernetesState["resourceVersions"],
): KubernetesState {
  const rows = <Row>(kind: ObjectKind, read: () => readonly Row[]): readonly Row[] => (known.has(kind) ? read() : none);
  return {
    nodes: rows("nodes", tables.nodes.rows),
    pods: rows("pods", tables.pods.gpuPods),
    namespaces: rows("namespaces", tables.namespaces.rows),
    priorityClasses: rows("priorityClasses", tables.priorityClasses.rows),
    podDisruptionBudgets: rows("podDisruptionBudgets", tables.podDisruptionBudgets.rows),
    resourceClaims: rows("resourceClaims", tables.resourceClaims.rows),
    resourceSlices: rows("resourceSlices", tables.resourceSlices.rows),
    owners: rows("owners", owners.owners),
    queues: noQueueObjects,
    schedulerSettings: unknownSchedulerSettings,
    evictions: [],
    requestsByNode: known.has("pods") ? tables.pods.requestsByNode() : null,
    known,
    exporterPods: rows("pods", tables.pods.exporterPods),
    resourceVersions,
    podCount: known.has("pods") ? tables.pods.size : 0,
  };
}
