import type { ClusterState, ExporterPodRef, ObjectKind, OwnerObject } from "../../model/cluster.ts";
import type { Monitors } from "../../model/monitors.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { KindRows, KindTables, RecordKind, RecordTables } from "./kindTables.ts";

/** A pod that may be an exporter: it matched one of the configured label selectors in a configured namespace. */
export interface ExporterPod extends ExporterPodRef {
  readonly podIp: string;
  /** Container ports by name. */
  readonly ports: Readonly<Record<string, number>>;
  readonly ready: boolean;
  /** The controller that created it; `null` if there is none. */
  readonly owner: { readonly kind: string; readonly name: string } | null;
  /** Creation time, seconds since the epoch; `null` where the object does not report it. */
  readonly createdAt: number | null;
  /** Whether it reports what processes of pods use, and not devices. */
  readonly isOfProcesses?: boolean;
}

/** What the Kubernetes source provides: the objects of a cycle, and where exporters run. */
export interface KubernetesState extends Omit<ClusterState, "telemetry" | "prices" | "problems"> {
  readonly exporterPods: readonly ExporterPod[];
  /** The last resource version of each kind, including those of bookmarks; a kind that was never listed is absent. */
  readonly resourceVersions: Readonly<Partial<Record<ObjectKind, string>>>;
  /** Monitors of the Prometheus operator; `null` or absent where they are not read. */
  readonly monitors?: Monitors | null;
  /** Number of all pods that the API has, with or without GPUs. */
  readonly podCount: number;
}

/** The parts that the state is made from, besides the tables. */
interface StateParts
  extends Pick<
    KubernetesState,
    | "evictions"
    | "schedulerSettings"
    | "kueuePendingWorkloads"
    | "autoscalerNodeGroups"
    | "monitors"
    | "known"
    | "resourceVersions"
  > {
  readonly tables: KindTables;
  readonly owners: () => readonly OwnerObject[];
}

const none: readonly never[] = [];

/** The present state. Its arrays are those of the tables, so that an unchanged kind keeps its array. */
export function stateOf({ tables, owners, known, ...parts }: StateParts): KubernetesState {
  const ifKnown = <Row>(kind: ObjectKind, read: () => readonly Row[]): readonly Row[] =>
    known.has(kind) ? read() : none;
  const ofRecords: RecordTables = tables;
  const rows = <Kind extends RecordKind>(kind: Kind): readonly KindRows[Kind][] =>
    known.has(kind) ? ofRecords[kind].rows() : none;
  const queues: QueueObjects = {
    kueueClusterQueues: rows("kueueClusterQueues"),
    kueueLocalQueues: rows("kueueLocalQueues"),
    kueueCohorts: rows("kueueCohorts"),
    kueueResourceFlavors: rows("kueueResourceFlavors"),
    kueueWorkloads: rows("kueueWorkloads"),
    kueueWorkloadPriorityClasses: rows("kueueWorkloadPriorityClasses"),
    kueueAdmissionChecks: rows("kueueAdmissionChecks"),
    kueueTopologies: rows("kueueTopologies"),
    kaiQueues: rows("kaiQueues"),
    kaiPodGroups: rows("kaiPodGroups"),
    kaiSchedulingShards: rows("kaiSchedulingShards"),
    kaiTopologies: rows("kaiTopologies"),
    volcanoQueues: rows("volcanoQueues"),
    volcanoPodGroups: rows("volcanoPodGroups"),
    volcanoHyperNodes: rows("volcanoHyperNodes"),
    nativePodGroups: rows("nativePodGroups"),
    nativeWorkloads: rows("nativeWorkloads"),
    coschedulingPodGroups: rows("coschedulingPodGroups"),
    resourceQuotas: rows("resourceQuotas"),
    limitRanges: rows("limitRanges"),
  };
  return {
    nodes: rows("nodes"),
    pods: ifKnown("pods", tables.pods.gpuPods),
    namespaces: rows("namespaces"),
    priorityClasses: rows("priorityClasses"),
    podDisruptionBudgets: rows("podDisruptionBudgets"),
    horizontalPodAutoscalers: rows("horizontalPodAutoscalers"),
    scaledObjects: rows("scaledObjects"),
    verticalPodAutoscalers: rows("verticalPodAutoscalers"),
    resourceClaims: rows("resourceClaims"),
    resourceSlices: rows("resourceSlices"),
    deviceTaintRules: rows("deviceTaintRules"),
    owners: ifKnown("owners", owners),
    karpenterNodePools: rows("karpenterNodePools"),
    persistentVolumeClaims: rows("persistentVolumeClaims"),
    persistentVolumes: rows("persistentVolumes"),
    queues,
    ...parts,
    ...(known.has("pods")
      ? { neighbors: tables.pods.neighbors(), plainGangMembers: tables.pods.plainGangMembers() }
      : {}),
    requestsByNode: known.has("pods") ? tables.pods.requestsByNode() : null,
    known,
    exporterPods: ifKnown("pods", tables.pods.exporterPods),
    podCount: known.has("pods") ? tables.pods.size : 0,
  };
}
