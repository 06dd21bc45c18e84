import type { KaiPodGroup, KaiQueue, KaiSchedulingShard } from "../../exporter/model/queues/kai.ts";
import type { VolcanoPodGroup, VolcanoQueue } from "../../exporter/model/queues/volcano.ts";

const gpu = "nvidia.com/gpu";

/** Who and how old a PodGroup of both systems is, when nothing else is said. */
const group = (name: string) => ({ namespace: "research", name, uid: `uid-${name}`, createdAt: 1000 }) as const;

export function kaiQueue(name: string, parts: Partial<KaiQueue> = {}): KaiQueue {
  return {
    name,
    displayName: null,
    parent: null,
    nodePool: null,
    priority: 100,
    createdAt: null,
    gpu: { quota: 0, overQuotaWeight: 1, limit: -1 },
    cpu: null,
    memory: null,
    preemptMinRuntimeSeconds: null,
    reclaimMinRuntimeSeconds: null,
    allocated: null,
    allocatedNonPreemptible: null,
    requested: null,
    conditions: [],
    ...parts,
  };
}

export function kaiGroup(name: string, queue: string, parts: Partial<KaiPodGroup> = {}): KaiPodGroup {
  return {
    ...group(name),
    queue,
    minMember: 2,
    priorityClass: null,
    preemptibility: null,
    nodePool: null,
    owner: { apiVersion: "batch/v1", kind: "Job", name: "train", uid: "uid-train" },
    schedulingConditions: [],
    allocated: {},
    requested: { [gpu]: 2 },
    lastStartAt: null,
    lastEvictionAt: null,
    staleSince: null,
    checkpointedAt: null,
    ...parts,
  };
}

export const kaiShard = (name: string, partitionLabelValue: string | null): KaiSchedulingShard => ({
  name,
  partitionLabelValue,
  kValue: null,
  usage: null,
  createdAt: null,
});

export function volcanoQueue(name: string, parts: Partial<VolcanoQueue> = {}): VolcanoQueue {
  return {
    name,
    parent: null,
    weight: 1,
    capability: null,
    guarantee: null,
    deserved: null,
    reclaimable: true,
    priority: 0,
    state: "Open",
    allocated: null,
    hierarchy: null,
    hierarchyWeights: null,
    createdAt: null,
    ...parts,
  };
}

export function volcanoGroup(name: string, queue: string, parts: Partial<VolcanoPodGroup> = {}): VolcanoPodGroup {
  return {
    ...group(name),
    queue,
    minMember: 2,
    minResources: { [gpu]: 2, "requests.nvidia.com/gpu": 2, cpu: 4, pods: 2 },
    priorityClass: null,
    owner: { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "train", uid: "uid-train" },
    phase: "Pending",
    running: 0,
    conditions: [],
    checkpointedAt: null,
    ...parts,
  };
}
