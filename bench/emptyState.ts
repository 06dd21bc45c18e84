import type { ClusterState, ObjectKind } from "../exporter/model/cluster.ts";
import { noPrices } from "../exporter/model/prices.ts";
import { noQueueObjects, unknownSchedulerSettings } from "../exporter/model/queues/queueObjects.ts";

/** The kinds that a replay or a generated fleet fills in, or that its cluster has none of. */
const kindsRead: readonly ObjectKind[] = [
  "nodes",
  "pods",
  "namespaces",
  "priorityClasses",
  "podDisruptionBudgets",
  "resourceClaims",
  "resourceSlices",
  "owners",
  "horizontalPodAutoscalers",
];

/** A cluster without any object, of which all that a replay or a generated fleet needs has been read. */
export const emptyState: ClusterState = {
  nodes: [],
  pods: [],
  namespaces: [],
  priorityClasses: [],
  podDisruptionBudgets: [],
  horizontalPodAutoscalers: [],
  scaledObjects: [],
  verticalPodAutoscalers: [],
  resourceClaims: [],
  resourceSlices: [],
  deviceTaintRules: [],
  owners: [],
  queues: noQueueObjects,
  schedulerSettings: unknownSchedulerSettings,
  kueuePendingWorkloads: new Map(),
  evictions: [],
  requestsByNode: null,
  karpenterNodePools: [],
  persistentVolumeClaims: [],
  persistentVolumes: [],
  autoscalerNodeGroups: [],
  exporterPods: [],
  prices: noPrices,
  known: new Set(kindsRead),
  telemetry: [],
  problems: [],
};
