import type { ResourceAmounts } from "../../exporter/model/node.ts";
import type { Condition } from "../../exporter/model/queues/condition.ts";
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

const gpu = "nvidia.com/gpu";

/** A quota of `nvidia.com/gpu`. */
export function quota(flavor: string, nominal: number, parts: Partial<KueueQuota> = {}): KueueQuota {
  return { flavor, resource: gpu, nominal, borrowingLimit: null, lendingLimit: null, place: null, ...parts };
}

/** A running queue for all namespaces. */
export function clusterQueue(
  name: string,
  quotas: readonly KueueQuota[],
  parts: Partial<KueueClusterQueue> = {},
): KueueClusterQueue {
  return {
    name,
    cohort: null,
    quotas,
    queueingStrategy: "BestEffortFIFO",
    weight: 1,
    namespaceSelector: { matchLabels: {}, matchExpressions: [] },
    preemption: { reclaimWithinCohort: "Never", withinClusterQueue: "Never", borrowWithinCohort: "Never" },
    stopPolicy: "None",
    admissionMode: null,
    createdAt: null,
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

export function localQueue(name: string, of: string, parts: Partial<KueueLocalQueue> = {}): KueueLocalQueue {
  return {
    namespace: "research",
    name,
    clusterQueue: of,
    weight: 1,
    stopPolicy: "None",
    consumed: null,
    consumedAt: null,
    reservation: [],
    usage: [],
    ...parts,
  };
}

export function cohort(name: string, parent: string | null, quotas: readonly KueueQuota[] = []): KueueCohort {
  return { name, parent, quotas, weight: 1, weightedShare: null };
}

export function flavor(name: string, nodeLabels: Readonly<Record<string, string>> = {}): KueueResourceFlavor {
  return { name, nodeLabels, nodeTaints: [], tolerations: [], topologyName: null };
}

/** A pod that asks for nothing but `requests`. */
export function podNeeds(requests: ResourceAmounts, parts: Partial<PodNeeds> = {}): PodNeeds {
  return { requests, nodeSelector: {}, nodeAffinity: [], tolerations: [], ...parts };
}

/** Pods of a template that asks for GPUs. */
export function podSet(count: number, gpus: number, needs: Partial<PodNeeds> = {}): KueuePodSet {
  return { name: "main", count, minCount: null, pod: podNeeds({ [gpu]: gpus }, needs) };
}

/** A workload that waits in the LocalQueue `q`. */
export function workload(
  name: string,
  podSets: readonly KueuePodSet[],
  parts: Partial<KueueWorkload> = {},
): KueueWorkload {
  return {
    namespace: "research",
    name,
    uid: `uid-${name}`,
    createdAt: 1000,
    localQueue: "q",
    priority: 0,
    priorityClass: null,
    active: true,
    owner: null,
    jobUid: null,
    podSets,
    admission: null,
    conditions: [],
    reclaimable: [],
    requeueAt: null,
    evictions: [],
    checkpointedAt: null,
    ...parts,
  };
}

export function condition(type: string, isTrue: boolean, parts: Partial<Condition> = {}): Condition {
  return { type, isTrue, reason: type, message: "", changedAt: 2000, ...parts };
}

/** A workload's admission to one flavor. */
export function admission(of: string, flavorName: string, count: number, gpus: number): Partial<KueueWorkload> {
  return {
    admission: {
      clusterQueue: of,
      assignments: [{ podSet: "main", count, flavors: { [gpu]: flavorName }, usage: { [gpu]: count * gpus } }],
    },
    conditions: [condition("QuotaReserved", true), condition("Admitted", true)],
  };
}
