import { jsonWire } from "../jsonWire.ts";
import { decodeKaiPodGroup, decodeKaiQueue, decodeSchedulingShard } from "./decodeKai.ts";
import {
  decodeAdmissionCheck,
  decodeClusterQueue,
  decodeCohort,
  decodeLocalQueue,
  decodeResourceFlavor,
  decodeWorkloadPriorityClass,
} from "./decodeKueueQueues.ts";
import { decodeLimitRange, decodeResourceQuota } from "./decodeQuotaRules.ts";
import { decodeVolcanoPodGroup, decodeVolcanoQueue } from "./decodeVolcano.ts";
import { decodeWorkload } from "./decodeWorkload.ts";

/** What the decoders of queue objects are given. */
export interface QueueProjection {
  /** Names of extended resources that count as GPUs by configuration, besides those known by name. */
  readonly gpuResources: ReadonlySet<string>;
  /** Label of KAI's Queues and PodGroups that names their node pool. */
  readonly kaiNodePoolLabel: string;
}

/** How each kind of queue object is read from the API: in JSON, the only format that custom resources have. */
export function queueWires({ gpuResources, kaiNodePoolLabel }: QueueProjection) {
  return {
    kueueClusterQueues: jsonWire(decodeClusterQueue),
    kueueLocalQueues: jsonWire(decodeLocalQueue),
    kueueCohorts: jsonWire(decodeCohort),
    kueueResourceFlavors: jsonWire(decodeResourceFlavor),
    kueueWorkloads: jsonWire((value) => decodeWorkload(value, gpuResources)),
    kueueWorkloadPriorityClasses: jsonWire(decodeWorkloadPriorityClass),
    kueueAdmissionChecks: jsonWire(decodeAdmissionCheck),
    kaiQueues: jsonWire((value) => decodeKaiQueue(value, kaiNodePoolLabel)),
    kaiPodGroups: jsonWire((value) => decodeKaiPodGroup(value, kaiNodePoolLabel)),
    kaiSchedulingShards: jsonWire(decodeSchedulingShard),
    volcanoQueues: jsonWire(decodeVolcanoQueue),
    volcanoPodGroups: jsonWire(decodeVolcanoPodGroup),
    resourceQuotas: jsonWire(decodeResourceQuota),
    limitRanges: jsonWire(decodeLimitRange),
  } as const;
}
