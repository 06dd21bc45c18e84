import type { ResourceAmounts } from "../../exporter/model/node.ts";
import type { CoschedulingPodGroup } from "../../exporter/model/queues/coscheduling.ts";
import type { KaiPodGroup, KaiQueue, KaiQueueResource } from "../../exporter/model/queues/kai.ts";
import type {
  KueueClusterQueue,
  KueueCohort,
  KueuePodSet,
  KueueQuota,
  KueueResourceFlavor,
  KueueWorkload,
} from "../../exporter/model/queues/kueue.ts";
import type { NativePodGroup, NativeWorkload } from "../../exporter/model/queues/nativeGangs.ts";
import type { VolcanoPodGroup, VolcanoQueue } from "../../exporter/model/queues/volcano.ts";
import { now } from "../join/clusterBuilder.ts";
import * as groupRows from "../queues/groupRows.ts";
import * as kueueRows from "../queues/kueueRows.ts";

const yesterday = now - 86_400;

/** GPUs of a flavor, borrowed and lent without limit. */
export function gpuQuota(nominal: number, parts: Partial<KueueQuota> = {}): KueueQuota {
  return kueueRows.quota("h100", nominal, parts);
}

/** A ClusterQueue with 8 GPUs that takes back what it lent, without a cohort, for all namespaces. */
export function clusterQueue(name: string, parts: Partial<KueueClusterQueue> = {}): KueueClusterQueue {
  return kueueRows.clusterQueue(name, [gpuQuota(8)], {
    preemption: { reclaimWithinCohort: "Any", withinClusterQueue: "Never", borrowWithinCohort: "Never" },
    createdAt: yesterday,
    ...parts,
  });
}

export function cohort(name: string, parts: Partial<KueueCohort> = {}): KueueCohort {
  return { ...kueueRows.cohort(name, null), ...parts };
}

export function flavor(name: string, parts: Partial<KueueResourceFlavor> = {}): KueueResourceFlavor {
  return { ...kueueRows.flavor(name), ...parts };
}

export function kueuePodSet(name: string, count: number, requests: ResourceAmounts): KueuePodSet {
  return { name, count, minCount: null, pod: kueueRows.podNeeds(requests) };
}

/** A Workload of one pod with one GPU in the LocalQueue `main`, without quota. */
export function kueueWorkload(name: string, parts: Partial<KueueWorkload> = {}): KueueWorkload {
  return kueueRows.workload(name, [kueueRows.podSet(1, 1)], { createdAt: now - 600, localQueue: "main", ...parts });
}

export const unlimited: KaiQueueResource = { quota: -1, overQuotaWeight: 1, limit: -1 };

/** A top queue with 8 GPUs, weight 1 and no limits. */
export function kaiQueue(name: string, parts: Partial<KaiQueue> = {}): KaiQueue {
  const gpu = { quota: 8, overQuotaWeight: 1, limit: -1 };
  return groupRows.kaiQueue(name, { createdAt: yesterday, gpu, cpu: unlimited, memory: unlimited, ...parts });
}

/** A PodGroup without owner in the queue `vision`; the scheduler says nothing about it yet. */
export function kaiPodGroup(name: string, parts: Partial<KaiPodGroup> = {}): KaiPodGroup {
  const unknown = { owner: null, allocated: null, requested: null };
  return groupRows.kaiGroup(name, "vision", { createdAt: now - 600, minMember: 1, ...unknown, ...parts });
}

/** An open queue of weight 1 without amounts. */
export function volcanoQueue(name: string, parts: Partial<VolcanoQueue> = {}): VolcanoQueue {
  return groupRows.volcanoQueue(name, { createdAt: yesterday, ...parts });
}

/** A pending PodGroup without owner and amounts in the queue `default`. */
export function volcanoPodGroup(name: string, parts: Partial<VolcanoPodGroup> = {}): VolcanoPodGroup {
  const unknown = { minResources: null, owner: null };
  return groupRows.volcanoGroup(name, "default", { createdAt: now - 600, minMember: 1, ...unknown, ...parts });
}

export function nativePodGroup(name: string, parts: Partial<NativePodGroup> = {}): NativePodGroup {
  const uid = `uid-native-${name}`;
  const made = { namespace: "research", name, uid, createdAt: now - 600 };
  return { ...made, minCount: 4, workload: null, owner: null, wasScheduled: false, isEnding: false, ...parts };
}

export function coschedulingPodGroup(name: string, parts: Partial<CoschedulingPodGroup> = {}): CoschedulingPodGroup {
  const made = { namespace: "research", name, uid: `uid-coscheduling-${name}`, createdAt: now - 600 };
  return { ...made, minMember: 4, owner: null, running: 0, ...parts };
}

export function nativeWorkload(name: string, parts: Partial<NativeWorkload> = {}): NativeWorkload {
  const made = { namespace: "research", name, uid: `uid-native-${name}`, createdAt: now - 600 };
  return { ...made, controller: null, groups: [], isEnding: false, ...parts };
}
