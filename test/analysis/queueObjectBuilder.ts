import type { ResourceAmounts } from "../../exporter/model/node.ts";
import type { KaiPodGroup, KaiQueue, KaiQueueResource } from "../../exporter/model/queues/kai.ts";
import type {
  KueueClusterQueue,
  KueueCohort,
  KueueLocalQueue,
  KueuePodSet,
  KueueQuota,
  KueueResourceFlavor,
  KueueWorkload,
} from "../../exporter/model/queues/kueue.ts";
import type { PodNeeds } from "../../exporter/model/queues/podNeeds.ts";
import type { VolcanoPodGroup, VolcanoQueue } from "../../exporter/model/queues/volcano.ts";
import { now } from "../join/clusterBuilder.ts";

/** A pod that asks for nothing but `requests`. */
export function podNeeds(requests: ResourceAmounts, parts: Partial<PodNeeds> = {}): PodNeeds {
  return { requests, nodeSelector: {}, nodeAffinity: [], tolerations: [], ...parts };
}

/** GPUs of a flavor, borrowed and lent without limit. */
export function gpuQuota(nominal: number, parts: Partial<KueueQuota> = {}): KueueQuota {
  return { flavor: "h100", resource: "nvidia.com/gpu", nominal, borrowingLimit: null, lendingLimit: null, ...parts };
}

/** A ClusterQueue with 8 GPUs, without a cohort, for all namespaces. */
export function clusterQueue(name: string, parts: Partial<KueueClusterQueue> = {}): KueueClusterQueue {
  return {
    name,
    cohort: null,
    quotas: [gpuQuota(8)],
    queueingStrategy: "BestEffortFIFO",
    weight: 1,
    namespaceSelector: { matchLabels: {}, matchExpressions: [] },
    preemption: { reclaimWithinCohort: "Any", withinClusterQueue: "Never", borrowWithinCohort: "Never" },
    stopPolicy: "None",
    admissionMode: null,
    createdAt: now - 86_400,
    reservation: [],
    usage: [],
    pendingWorkloads: null,
    reservingWorkloads: null,
    admittedWorkloads: null,
    weightedShare: null,
    active: null,
    ...parts,
  };
}

export function localQueue(name: string, queue: string, parts: Partial<KueueLocalQueue> = {}): KueueLocalQueue {
  return {
    ...{ namespace: "research", name, clusterQueue: queue, weight: 1, stopPolicy: "None" },
    ...{ consumed: null, consumedAt: null, reservation: [], usage: [] },
    ...parts,
  };
}

export function cohort(name: string, parts: Partial<KueueCohort> = {}): KueueCohort {
  return { name, parent: null, quotas: [], weight: 1, weightedShare: null, ...parts };
}

export function flavor(name: string, parts: Partial<KueueResourceFlavor> = {}): KueueResourceFlavor {
  return { name, nodeLabels: {}, nodeTaints: [], tolerations: [], topologyName: null, ...parts };
}

export function kueuePodSet(name: string, count: number, requests: ResourceAmounts): KueuePodSet {
  return { name, count, minCount: null, pod: podNeeds(requests) };
}

/** A Workload of one pod with one GPU in the LocalQueue `main`, without quota. */
export function kueueWorkload(name: string, parts: Partial<KueueWorkload> = {}): KueueWorkload {
  return {
    ...{ namespace: "research", name, uid: `uid-${name}`, createdAt: now - 600, localQueue: "main", priority: 0 },
    ...{ priorityClass: null, active: true, owner: null, jobUid: null, admission: null, conditions: [] },
    podSets: [kueuePodSet("main", 1, { "nvidia.com/gpu": 1 })],
    ...{ reclaimable: [], requeueAt: null, evictions: [], checkpointedAt: null },
    ...parts,
  };
}

export const unlimited: KaiQueueResource = { quota: -1, overQuotaWeight: 1, limit: -1 };

/** A top queue with 8 GPUs, weight 1 and no limits. */
export function kaiQueue(name: string, parts: Partial<KaiQueue> = {}): KaiQueue {
  return {
    ...{ name, displayName: null, parent: null, nodePool: null, priority: 100, createdAt: now - 86_400 },
    gpu: { quota: 8, overQuotaWeight: 1, limit: -1 },
    ...{ cpu: unlimited, memory: unlimited, preemptMinRuntimeSeconds: null, reclaimMinRuntimeSeconds: null },
    ...{ allocated: null, allocatedNonPreemptible: null, requested: null, conditions: [] },
    ...parts,
  };
}

export function kaiPodGroup(name: string, parts: Partial<KaiPodGroup> = {}): KaiPodGroup {
  return {
    ...{ namespace: "research", name, uid: `uid-${name}`, createdAt: now - 600, queue: "vision", minMember: 1 },
    ...{ priorityClass: null, preemptibility: null, nodePool: null, owner: null, schedulingConditions: [] },
    ...{ allocated: null, requested: null, lastStartAt: null, lastEvictionAt: null, staleSince: null },
    checkpointedAt: null,
    ...parts,
  };
}

/** An open queue of weight 1 without amounts. */
export function volcanoQueue(name: string, parts: Partial<VolcanoQueue> = {}): VolcanoQueue {
  return {
    ...{ name, parent: null, weight: 1, capability: null, guarantee: null, deserved: null, reclaimable: true },
    ...{ priority: 0, state: "Open", allocated: null, hierarchy: null, hierarchyWeights: null },
    createdAt: now - 86_400,
    ...parts,
  };
}

export function volcanoPodGroup(name: string, parts: Partial<VolcanoPodGroup> = {}): VolcanoPodGroup {
  return {
    ...{ namespace: "research", name, uid: `uid-${name}`, createdAt: now - 600, queue: "default", minMember: 1 },
    ...{ minResources: null, priorityClass: null, owner: null, phase: "Pending", running: 0, conditions: [] },
    checkpointedAt: null,
    ...parts,
  };
}
