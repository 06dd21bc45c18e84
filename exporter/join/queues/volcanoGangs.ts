import { bareRecord } from "../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { VolcanoPodGroup } from "../../model/queues/volcano.ts";
import type { DeclaredGang, PoolFacts } from "./queueSystem.ts";
import { isGpuResource } from "./resourceGpus.ts";

/**
 * PodGroups that have not ended as gangs; those are left out for which neither `minResources` nor a pod with GPUs
 * (`hasGpuPods`) gives information. Volcano writes no time at which a group began (the condition `Scheduled` is renewed in
 * every session), so that only pods show it.
 */
export function volcanoGangs(
  groups: readonly VolcanoPodGroup[],
  takesWork: (queue: string) => boolean,
  pools: readonly PoolFacts[],
  hasGpuPods: (group: VolcanoPodGroup) => boolean,
  priorityOf: (priorityClass: string | null) => number,
): readonly DeclaredGang[] {
  const gangs: DeclaredGang[] = [];
  for (const group of groups) {
    if (group.phase === "Completed") continue;
    const total = gpuRequests(group.minResources ?? {}, pools);
    if (total === null && !hasGpuPods(group)) continue;
    const members = Math.max(1, group.minMember);
    gangs.push({
      uid: group.uid,
      kind: "PodGroup",
      namespace: group.namespace,
      name: group.name,
      ownerUids: group.owner === null ? [] : [group.owner.uid],
      ownerKind: group.owner?.kind ?? null,
      ownerName: group.owner?.name ?? null,
      queue: { scheduler: "volcano", name: group.queue, localQueue: null },
      priorityClass: group.priorityClass,
      priority: priorityOf(group.priorityClass),
      since: group.createdAt,
      reservedAt: null,
      members,
      min: members,
      parts: [],
      total,
      never: takesWork(group.queue) ? null : "no-queue",
      reason: reasonOf(group),
      startedAt: null,
    });
  }
  return gangs;
}

/**
 * The GPUs of `minResources`, which Volcano writes under their name and once more behind `requests.`; `null` without any,
 * as where a Job names GPUs in limits only.
 */
function gpuRequests(amounts: ResourceAmounts, pools: readonly PoolFacts[]): ResourceAmounts | null {
  const gpus = bareRecord<number>();
  for (const [name, amount] of Object.entries(amounts)) {
    const resource = name.replace(/^requests\./, "");
    if (amount > 0 && isGpuResource(resource, pools)) gpus[resource] = Math.max(gpus[resource] ?? 0, amount);
  }
  return Object.keys(gpus).length === 0 ? null : gpus;
}

/** Reason of its condition `Unschedulable`; a group that is not even in the queue has none yet. */
function reasonOf(group: VolcanoPodGroup): string {
  if (group.phase === "Running") return "";
  return group.conditions.find(({ type, isTrue }) => type === "Unschedulable" && isTrue)?.reason ?? "";
}
