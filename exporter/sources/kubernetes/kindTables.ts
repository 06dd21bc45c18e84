import type { ClusterState } from "../../model/cluster.ts";
import type { QueueObjectKind, QueueObjects } from "../../model/queues/queueObjects.ts";
import type { Decoded } from "./decoded.ts";
import type { DecodedPod } from "./decodePod.ts";
import type { WatchedKindName } from "./kinds.ts";
import { createRowTable, type ObjectTable, type RowTable } from "./objectTable.ts";
import { createPodTable, type PodTable } from "./podTable.ts";
import type { EvictionWatch } from "./queues/evictionWatch.ts";
import type { WireFormat } from "./wire.ts";

/** Kinds whose objects become one record each; a pod becomes more than that. */
export type RecordKind = Exclude<WatchedKindName, "pods">;

/** The type that is kept of an object of each kind. */
export type KindRows = { readonly pods: DecodedPod } & {
  readonly [Kind in Exclude<WatchedKindName, "pods" | QueueObjectKind>]: ClusterState[Kind][number];
} & { readonly [Kind in QueueObjectKind]: QueueObjects[Kind][number] };

/** A table for each kind, as it is seen by the code that fills it. */
export type ObjectTables = { readonly [Kind in WatchedKindName]: ObjectTable<KindRows[Kind]> };

/** The decoder for each kind, which returns what is kept of an object. */
export type KindDecoders = { readonly [Kind in WatchedKindName]: (value: unknown) => Decoded<KindRows[Kind]> };

/** A format for each kind. */
export type KindWires = { readonly [Kind in WatchedKindName]: WireFormat<KindRows[Kind]> };

/** A table for each kind, as it is seen by the code that reads it. */
export type RecordTables = { readonly [Kind in RecordKind]: RowTable<KindRows[Kind]> };
export type KindTables = { readonly pods: PodTable } & RecordTables;

/** Empty tables; objects that report evictions are passed to `evictions` as they change. */
export function createKindTables(evictions: EvictionWatch): KindTables {
  return {
    nodes: createRowTable(),
    pods: createPodTable(evictions.onPreemptedPod),
    namespaces: createRowTable(),
    priorityClasses: createRowTable(),
    podDisruptionBudgets: createRowTable(),
    horizontalPodAutoscalers: createRowTable(),
    scaledObjects: createRowTable(),
    verticalPodAutoscalers: createRowTable(),
    resourceClaims: createRowTable(),
    resourceSlices: createRowTable(),
    deviceTaintRules: createRowTable(),
    kueueClusterQueues: createRowTable(),
    kueueLocalQueues: createRowTable(),
    kueueCohorts: createRowTable(),
    kueueResourceFlavors: createRowTable(),
    kueueWorkloads: createRowTable(evictions.onWorkload),
    kueueWorkloadPriorityClasses: createRowTable(),
    kueueAdmissionChecks: createRowTable(),
    kueueTopologies: createRowTable(),
    kaiQueues: createRowTable(),
    kaiPodGroups: createRowTable(evictions.onKaiPodGroup),
    kaiSchedulingShards: createRowTable(),
    kaiTopologies: createRowTable(),
    volcanoQueues: createRowTable(),
    volcanoPodGroups: createRowTable(),
    volcanoHyperNodes: createRowTable(),
    nativePodGroups: createRowTable(),
    nativeWorkloads: createRowTable(),
    coschedulingPodGroups: createRowTable(),
    resourceQuotas: createRowTable(),
    limitRanges: createRowTable(),
    karpenterNodePools: createRowTable(),
    persistentVolumeClaims: createRowTable(),
    persistentVolumes: createRowTable(),
  };
}
