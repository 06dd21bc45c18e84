import type { ClusterState, ExporterPodRef, ObjectKind, OwnerObject } from "../../model/cluster.ts";
import type { AutoscalerNodeGroup } from "../../model/nodePools.ts";
import type { Eviction } from "../../model/queues/eviction.ts";
import type { KueuePendingWorkloads } from "../../model/queues/kueue.ts";
import type { QueueObjects, SchedulerSettings } from "../../model/queues/queueObjects.ts";
import type { WatchedKindName } from "./kinds.ts";
import type { KindTables } from "./kindTables.ts";

/** A pod that may be an exporter: it matched one of the configured label selectors in a configured namespace. */
export interface ExporterPod extends ExporterPodRef {
  readonly podIp: string;
  /** Container ports by name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly ready: boolean;
  /** The controller that made it. */
  readonly owner: { readonly kind: string; readonly name: string } | null;
  /** Seconds since the epoch; `null` where the object does not say. */
  readonly createdAt: number | null;
}

/** What the Kubernetes source knows: the objects of a cycle, and where exporters run. */
export interface KubernetesState extends Omit<ClusterState, "telemetry" | "prices" | "problems"> {
  readonly exporterPods: readonly ExporterPod[];
  /** Last resource version seen per kind, bookmarks included; a kind that was never listed is absent. */
  readonly resourceVersions: Readonly<Partial<Record<ObjectKind, string>>>;
  /** All pods that the API has, with or without GPUs. */
  readonly podCount: number;
}

/** What the state is made from, besides the tables. */
export interface StateParts {
  readonly tables: KindTables;
  readonly owners: () => readonly OwnerObject[];
  readonly evictions: readonly Eviction[];
  readonly schedulerSettings: SchedulerSettings;
  readonly kueuePendingWorkloads: KueuePendingWorkloads;
  readonly autoscalerNodeGroups: readonly AutoscalerNodeGroup[];
  readonly known: KubernetesState["known"];
  readonly resourceVersions: KubernetesState["resourceVersions"];
}

const none: readonly never[] = [];

/** The state of this moment. Arrays are the tables' own, so that an unchanged kind keeps its array. */
export function stateOf({ tables, owners, known, ...parts }: StateParts): KubernetesState {
  const ifKnown = <Row>(kind: WatchedKindName | "owners", read: () => readonly Row[]): readonly Row[] =>
    known.has(kind) ? read() : none;
  const queues: QueueObjects = {
    kueueClusterQueues: ifKnown("kueueClusterQueues", tables.kueueClusterQueues.rows),
    kueueLocalQueues: ifKnown("kueueLocalQueues", tables.kueueLocalQueues.rows),
    kueueCohorts: ifKnown("kueueCohorts", tables.kueueCohorts.rows),
    kueueResourceFlavors: ifKnown("kueueResourceFlavors", tables.kueueResourceFlavors.rows),
    kueueWorkloads: ifKnown("kueueWorkloads", tables.kueueWorkloads.rows),
    kueueWorkloadPriorityClasses: ifKnown("kueueWorkloadPriorityClasses", tables.kueueWorkloadPriorityClasses.rows),
    kueueAdmissionChecks: ifKnown("kueueAdmissionChecks", tables.kueueAdmissionChecks.rows),
    kaiQueues: ifKnown("kaiQueues", tables.kaiQueues.rows),
    kaiPodGroups: ifKnown("kaiPodGroups", tables.kaiPodGroups.rows),
    kaiSchedulingShards: ifKnown("kaiSchedulingShards", tables.kaiSchedulingShards.rows),
    volcanoQueues: ifKnown("volcanoQueues", tables.volcanoQueues.rows),
    volcanoPodGroups: ifKnown("volcanoPodGroups", tables.volcanoPodGroups.rows),
    resourceQuotas: ifKnown("resourceQuotas", tables.resourceQuotas.rows),
    limitRanges: ifKnown("limitRanges", tables.limitRanges.rows),
  };
  return {
    nodes: ifKnown("nodes", tables.nodes.rows),
    pods: ifKnown("pods", tables.pods.gpuPods),
    namespaces: ifKnown("namespaces", tables.namespaces.rows),
    priorityClasses: ifKnown("priorityClasses", tables.priorityClasses.rows),
    podDisruptionBudgets: ifKnown("podDisruptionBudgets", tables.podDisruptionBudgets.rows),
    horizontalPodAutoscalers: ifKnown("horizontalPodAutoscalers", tables.horizontalPodAutoscalers.rows),
    scaledObjects: ifKnown("scaledObjects", tables.scaledObjects.rows),
    verticalPodAutoscalers: ifKnown("verticalPodAutoscalers", tables.verticalPodAutoscalers.rows),
    resourceClaims: ifKnown("resourceClaims", tables.resourceClaims.rows),
    resourceSlices: ifKnown("resourceSlices", tables.resourceSlices.rows),
    deviceTaintRules: ifKnown("deviceTaintRules", tables.deviceTaintRules.rows),
    owners: ifKnown("owners", owners),
    karpenterNodePools: ifKnown("karpenterNodePools", tables.karpenterNodePools.rows),
    persistentVolumeClaims: ifKnown("persistentVolumeClaims", tables.persistentVolumeClaims.rows),
    persistentVolumes: ifKnown("persistentVolumes", tables.persistentVolumes.rows),
    queues,
    ...parts,
    ...(known.has("pods") ? { neighbors: tables.pods.neighbors() } : {}),
    requestsByNode: known.has("pods") ? tables.pods.requestsByNode() : null,
    known,
    exporterPods: ifKnown("pods", tables.pods.exporterPods),
    podCount: known.has("pods") ? tables.pods.size : 0,
  };
}
