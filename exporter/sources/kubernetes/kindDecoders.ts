import { decodeHorizontalPodAutoscaler, decodeScaledObject, decodeVerticalPodAutoscaler } from "./decodeAutoscalers.ts";
import { decodeNamespace, decodeNode, decodePodDisruptionBudget, decodePriorityClass } from "./decodeCluster.ts";
import { decodeDeviceTaintRule, decodeResourceClaim, decodeResourceSlice } from "./decodeDevices.ts";
import { decodeKarpenterNodePool } from "./decodeKarpenterNodePool.ts";
import { decodePersistentVolume, decodePersistentVolumeClaim } from "./decodeVolumes.ts";
import type { KindDecoders, RecordKind } from "./kindTables.ts";
import { decodeCoschedulingPodGroup } from "./queues/decodeCoscheduling.ts";
import { decodeKaiPodGroup, decodeKaiQueue, decodeSchedulingShard } from "./queues/decodeKai.ts";
import {
  decodeAdmissionCheck,
  decodeClusterQueue,
  decodeCohort,
  decodeLocalQueue,
  decodeResourceFlavor,
  decodeWorkloadPriorityClass,
} from "./queues/decodeKueueQueues.ts";
import { decodeNativePodGroup, decodeNativeWorkload } from "./queues/decodeNativeGangs.ts";
import { decodeLimitRange, decodeResourceQuota } from "./queues/decodeQuotaRules.ts";
import { decodeHyperNode, decodeTopology } from "./queues/decodeTopology.ts";
import { decodeVolcanoPodGroup, decodeVolcanoQueue } from "./queues/decodeVolcano.ts";
import { decodeWorkload } from "./queues/decodeWorkload.ts";

/** The part of the configuration that decoders need. */
export interface RecordProjection {
  /** Names of extended resources that count as GPUs by configuration, besides those known by name. */
  readonly gpuResources: ReadonlySet<string>;
  /** Label of KAI's Queues and PodGroups that names their node pool. */
  readonly kaiNodePoolLabel: string;
}

/** The decoders that turn an object of each kind into a record, whether it comes from the API or from a file. */
export function recordDecoders({ gpuResources, kaiNodePoolLabel }: RecordProjection): Pick<KindDecoders, RecordKind> {
  return {
    nodes: decodeNode,
    namespaces: decodeNamespace,
    priorityClasses: decodePriorityClass,
    podDisruptionBudgets: decodePodDisruptionBudget,
    horizontalPodAutoscalers: decodeHorizontalPodAutoscaler,
    scaledObjects: decodeScaledObject,
    verticalPodAutoscalers: decodeVerticalPodAutoscaler,
    resourceClaims: decodeResourceClaim,
    resourceSlices: decodeResourceSlice,
    deviceTaintRules: decodeDeviceTaintRule,
    kueueClusterQueues: decodeClusterQueue,
    kueueLocalQueues: decodeLocalQueue,
    kueueCohorts: decodeCohort,
    kueueResourceFlavors: decodeResourceFlavor,
    kueueWorkloads: (value) => decodeWorkload(value, gpuResources),
    kueueWorkloadPriorityClasses: decodeWorkloadPriorityClass,
    kueueAdmissionChecks: decodeAdmissionCheck,
    kueueTopologies: decodeTopology,
    kaiQueues: (value) => decodeKaiQueue(value, kaiNodePoolLabel),
    kaiPodGroups: (value) => decodeKaiPodGroup(value, kaiNodePoolLabel),
    kaiSchedulingShards: decodeSchedulingShard,
    kaiTopologies: decodeTopology,
    volcanoQueues: decodeVolcanoQueue,
    volcanoPodGroups: decodeVolcanoPodGroup,
    volcanoHyperNodes: decodeHyperNode,
    nativePodGroups: decodeNativePodGroup,
    nativeWorkloads: decodeNativeWorkload,
    coschedulingPodGroups: decodeCoschedulingPodGroup,
    resourceQuotas: decodeResourceQuota,
    limitRanges: decodeLimitRange,
    karpenterNodePools: decodeKarpenterNodePool,
    persistentVolumeClaims: decodePersistentVolumeClaim,
    persistentVolumes: decodePersistentVolume,
  };
}
