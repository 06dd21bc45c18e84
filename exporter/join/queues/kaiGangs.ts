import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import { type KaiPodGroup, kaiNonPreemptibleFrom } from "../../model/queues/kai.ts";
import type { KaiForest } from "./kaiForest.ts";
import type { NeverReason } from "./queueing.ts";
import type { DeclaredGang, PoolFacts } from "./queueSystem.ts";
import { gpusOf, isGpuResource } from "./resourceGpus.ts";

/** What KAI writes for pods that ask for GPU memory. */
const gpuMemory = "run.ai/gpu.memory";
/** Name of the node pool of objects without the label, as conditions spell it (`DefaultNodePoolName`). */
const defaultNodePool = "default";
/**
 * PodGroups as gangs; those are left out for which neither the status nor a pod with GPUs gives information. `podsOf`: pods
 * with GPUs that have not ended.
 */
export function kaiGangs(
  groups: readonly KaiPodGroup[],
  forests: readonly KaiForest[],
  pools: readonly PoolFacts[],
  podsOf: (group: KaiPodGroup) => number,
  priorityOf: (priorityClass: string | null) => number,
): readonly DeclaredGang[] {
  const isGpu = (resource: string) => resource === gpuMemory || isGpuResource(resource, pools);
  return groups
    .filter((group) => hasGpus(group.requested, isGpu) || hasGpus(group.allocated, isGpu) || podsOf(group) > 0)
    .map((group): DeclaredGang => {
      const members = Math.max(1, group.minMember);
      const priority = priorityOf(group.priorityClass);
      const startedAt = startOf(group, isGpu);
      const reasons = startedAt === null ? reasonsOf(group) : [];
      return {
        uid: group.uid,
        kind: "PodGroup",
        namespace: group.namespace,
        name: group.name,
        ownerUids: group.owner === null ? [] : [group.owner.uid],
        ownerKind: group.owner?.kind ?? null,
        ownerName: group.owner?.name ?? null,
        queue: { scheduler: "kai", name: group.queue, localQueue: null },
        priorityClass: group.priorityClass,
        priority,
        since: latest(group.createdAt, group.lastEvictionAt),
        reservedAt: null,
        members,
        min: members,
        parts: [],
        total: null,
        never: neverOf(group, forests, priority, reasons, needed(group, podsOf(group), pools)),
        reason: reasons.join(", "),
        startedAt,
      };
    });
}

function hasGpus(amounts: ResourceAmounts | null, isGpu: (resource: string) => boolean): boolean {
  return amounts !== null && Object.entries(amounts).some(([resource, amount]) => amount > 0 && isGpu(resource));
}

const latest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);

/** The last start of a group, if it was not evicted since and has all the GPUs that its pods ask for. */
function startOf(group: KaiPodGroup, isGpu: (resource: string) => boolean): number | null {
  const { requested, allocated, lastStartAt, lastEvictionAt } = group;
  if (requested === null || allocated === null || lastStartAt === null) return null;
  if (lastEvictionAt !== null && lastEvictionAt > lastStartAt) return null;
  const hasAll = Object.entries(requested).every(
    ([resource, amount]) => !isGpu(resource) || amount <= (allocated[resource] ?? 0) + gpuTolerance,
  );
  return hasAll ? lastStartAt : null;
}

/** Why its own shard does not schedule it, in the scheduler's words; conditions of former shards do not count. */
function reasonsOf(group: KaiPodGroup): readonly string[] {
  const own = group.nodePool ?? defaultNodePool;
  const words = group.schedulingConditions
    .filter(({ nodePool }) => nodePool === own || (group.nodePool === null && nodePool === ""))
    .flatMap(({ type, reasons }) => (reasons.length === 0 ? [type] : reasons.map(({ reason }) => reason)));
  return [...new Set(words.filter((word) => word !== ""))].sort();
}

/** GPUs without which it cannot run: what all its pods ask for, if it needs all of them; 0 if not known. */
function needed(group: KaiPodGroup, pods: number, pools: readonly PoolFacts[]): number {
  if (group.requested === null || pods === 0 || pods > Math.max(1, group.minMember)) return 0;
  return gpusOf(group.requested, pools) ?? 0;
}

/**
 * `OverLimit` and `NonPreemptibleOverQuota` depend on what others in the queue hold now, and mostly pass when that changes.
 * Work that needs more than the limit, or cannot be preempted and needs more than the quota, can never run.
 */
function neverOf(
  group: KaiPodGroup,
  forests: readonly KaiForest[],
  priority: number,
  reasons: readonly string[],
  gpus: number,
): NeverReason | null {
  if (reasons.includes("QueueDoesNotExist")) return "no-queue";
  const leaf = forests.find(({ shard }) => shard.owns(group.nodePool))?.servedLeaves.get(group.queue);
  if (leaf === undefined) return "no-queue";
  const bound = isPreemptible(group, priority) ? leaf.limit : Math.min(leaf.limit, leaf.quota);
  return bound === 0 || gpus > bound + gpuTolerance ? "above-limit" : null;
}

/** Semi-preemptible work keeps its smallest shape as if it were not preemptible at all. */
function isPreemptible(group: KaiPodGroup, priority: number): boolean {
  if (group.preemptibility === "preemptible") return true;
  return group.preemptibility === null && priority < kaiNonPreemptibleFrom;
}
