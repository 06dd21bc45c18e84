import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { KaiQueue, KaiQueueResource } from "../../model/queues/kai.ts";
import type { Finding, FindingCode } from "./finding.ts";

/** The value in KAI's units that means no limit: everything there is. */
const unlimited = -1;
const nothing: KaiQueueResource = { quota: 0, overQuotaWeight: 0, limit: 0 };

/**
 * Queues of KAI whose zeros mean more than it seems, or that do not fit together. Source: KAI-Scheduler (proportion plugin:
 * max_allowed_check.go, resource_division.go; cache: cluster_info/queue.go).
 */
export function kaiFindings({ queueObjects }: Snapshot): readonly Finding[] {
  const { kaiQueues } = queueObjects;
  const queues = new Map(kaiQueues.map((queue) => [keyOf(queue.nodePool, queue.name), queue] as const));
  const children = Map.groupBy(kaiQueues, ({ nodePool, parent }) => keyOf(nodePool, parent ?? ""));
  const takers = new Map<string, number>();
  for (const { nodePool, parent, gpu } of kaiQueues) {
    const key = keyOf(nodePool, parent ?? "");
    if ((gpu?.overQuotaWeight ?? 0) > 0) takers.set(key, (takers.get(key) ?? 0) + 1);
  }
  return kaiQueues.flatMap((queue) => {
    const below = children.get(keyOf(queue.nodePool, queue.name)) ?? [];
    return [
      orphan(queue, queues),
      limitZero(queue, below),
      noSurplus(queue, (takers.get(keyOf(queue.nodePool, queue.parent ?? "")) ?? 0) > 0),
      quotaAboveParent(queue, below),
    ].filter((found) => found !== null);
  });
}

/** The key of a queue for a shard: its scheduler sees only the queues with the node-pool label of the shard. */
const keyOf = (nodePool: string | null, name: string): string => JSON.stringify([nodePool, name]);

const finding = (code: FindingCode, name: string, reason: string, change: string): Finding => ({
  code,
  scheduler: "kai",
  kind: "Queue",
  name,
  reason,
  change,
});

/** Reports a queue whose parent does not exist, which `cleanQueueOrphans` removes. */
function orphan({ name, parent, nodePool }: KaiQueue, queues: ReadonlyMap<string, KaiQueue>): Finding | null {
  if (parent === null || parent === "" || queues.has(keyOf(nodePool, parent))) return null;
  const shard = nodePool === null ? "" : ` with the same node-pool label (${nodePool})`;
  return finding(
    "kai-queue-orphan",
    name,
    `spec.parentQueue is ${parent}, but there is no such queue${shard}: the scheduler drops ${name} and all queues below it, and none of their work runs.`,
    `Create Queue ${parent}${shard}, or set spec.parentQueue of ${name} to a queue that is there.`,
  );
}

/**
 * Reports a limit of 0: `isOverLimit` compares every requested resource on the whole way to the root, and only -1 means no
 * limit.
 */
function limitZero(queue: KaiQueue, below: readonly KaiQueue[]): Finding | null {
  const { name, cpu, memory } = queue;
  const gpu = queue.gpu ?? nothing;
  const isForGpus = gpu.quota !== 0 || gpu.overQuotaWeight !== 0 || gpu.limit !== 0 || below.some(hasGpus);
  if (!isForGpus) return null;
  const zero = [
    ...(gpu.limit === 0 ? ["gpu"] : []),
    ...((cpu ?? nothing).limit === 0 ? ["cpu"] : []),
    ...((memory ?? nothing).limit === 0 ? ["memory"] : []),
  ];
  if (zero.length === 0) return null;
  const fields = zero.map((resource) => `spec.resources.${resource}.limit`);
  return finding(
    "kai-limit-zero",
    name,
    `${fields.join(" and ")} ${fields.length > 1 ? "are" : "is"} 0, as when left out, which is a hard cap of nothing: no pod that asks for ${zero.join(" or ")} runs in it${below.length > 0 ? " or in any queue below it" : ""} (quota ${gpu.quota} GPUs).`,
    `Set ${fields.join(" and ")} of Queue ${name} to ${unlimited} (no limit), or to the amount that is meant.`,
  );
}

const hasGpus = ({ gpu }: KaiQueue): boolean =>
  gpu !== null && (gpu.quota !== 0 || gpu.overQuotaWeight !== 0 || gpu.limit !== 0);

/**
 * Reports a weight of 0: `divideUpToFairShare` passes over it; allocation itself considers only limits, and reclaim fair
 * shares.
 */
function noSurplus({ name, gpu }: KaiQueue, siblingsTake: boolean): Finding | null {
  if (gpu === null || gpu.overQuotaWeight !== 0 || gpu.quota === unlimited || gpu.limit === 0) return null;
  if (gpu.limit !== unlimited && gpu.limit <= gpu.quota) return null;
  const rivals = siblingsTake ? ", while its siblings get theirs" : "";
  return finding(
    "kai-no-surplus",
    name,
    `spec.resources.gpu.overQuotaWeight is 0, as when left out: its fair share never goes beyond its quota of ${gpu.quota}${rivals}. What it holds above that is the first to be reclaimed, and it can reclaim nothing itself.`,
    `Set spec.resources.gpu.overQuotaWeight of Queue ${name} to 1 or more; or its limit to ${gpu.quota}, if that is meant.`,
  );
}

/** Reports quotas above that of the parent: `setDeservedResource` gives each child its quota, whatever the parent has. */
function quotaAboveParent({ name, gpu }: KaiQueue, below: readonly KaiQueue[]): Finding | null {
  const quota = gpu?.quota ?? 0;
  if (quota === unlimited) return null;
  const sum = below.reduce((total, child) => total + Math.max(0, child.gpu?.quota ?? 0), 0);
  if (sum <= quota + gpuTolerance) return null;
  return finding(
    "kai-quota-above-parent",
    name,
    `Its ${below.length} queues are promised ${sum} GPUs together (spec.resources.gpu.quota), but it has only ${quota} itself: what is above that can be taken from them by others.`,
    `Set spec.resources.gpu.quota of Queue ${name} to ${sum} or more, or lower those of its queues.`,
  );
}
