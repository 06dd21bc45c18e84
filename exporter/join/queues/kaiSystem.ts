import type { PriorityClass } from "../../model/cluster.ts";
import type { Pod } from "../../model/pod.ts";
import type { KaiQueue } from "../../model/queues/kai.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { classPriority } from "./classPriority.ts";
import { kaiGroupKey } from "./kaiFinder.ts";
import { kaiForest } from "./kaiForest.ts";
import { kaiGangs } from "./kaiGangs.ts";
import { kaiShards } from "./kaiShards.ts";
import { gangsByNamespace } from "./namespaceGangs.ts";
import { podsByGroup } from "./podsByGroup.ts";
import type { DeclaredQueue, PoolFacts, QueueSystem } from "./queueSystem.ts";

/** Priority of groups without a class, where no class is the default (`getDefaultPriority`). */
const kaiDefaultPriority = 50;

/** The input for finding the queues of KAI Scheduler. */
export interface KaiInput {
  readonly objects: Pick<QueueObjects, "kaiQueues" | "kaiPodGroups" | "kaiSchedulingShards">;
  readonly pools: readonly PoolFacts[];
  readonly priorityClasses: readonly PriorityClass[];
  /** `queues.kai.nodePoolLabel` of the configuration. */
  readonly nodePoolLabel: string;
  /** Pods that hold or ask for GPUs, of whatever scheduler. */
  readonly pods: readonly Pod[];
  /** Whether any of these pods is in a queue of KAI. */
  readonly hasPods: boolean;
}

/** Queues that an installation creates by itself. */
const ownQueues: ReadonlySet<string> = new Set(["default-parent-queue", "default-queue"]);

/**
 * KAI Scheduler and Run:ai: a tree of queues for each shard, quota in physical GPUs. Read as its proportion plugin reads
 * it (KAI-Scheduler, pkg/scheduler/plugins/proportion; docs/fairness.md, "How queues are read").
 */
export function kaiSystem(input: KaiInput): QueueSystem {
  const { objects, pools } = input;
  const forests = kaiShards(objects.kaiSchedulingShards, pools, input.nodePoolLabel).map((shard) =>
    kaiForest(shard, objects.kaiQueues),
  );
  const podsOf = podsByGroup(objects.kaiPodGroups, input.pods, kaiGroupKey);
  const gangs = kaiGangs(
    objects.kaiPodGroups,
    forests,
    pools,
    ({ namespace, name }) => podsOf.get(`${namespace}/${name}`) ?? 0,
    classPriority(input.priorityClasses, kaiDefaultPriority),
  );
  return {
    scheduler: "kai",
    isInUse: objects.kaiQueues.some(isUsable) || gangs.length > 0 || input.hasPods,
    scopes: forests
      .filter(({ shard, queues }) => shard.pools.length > 0 && queues.length > 0)
      .map(({ shard }) => ({
        name: shard.name,
        covers: (_, { labels }) => shard.owns(labels[input.nodePoolLabel] ?? null),
      })),
    queuesIn: ({ scopes }) => {
      const found: DeclaredQueue[] = [];
      for (const { shard, queues } of forests) {
        if (!scopes.has(shard.name)) continue;
        const first = found.length;
        for (const queue of queues)
          found.push(queue.parent === null ? queue : { ...queue, parent: queue.parent + first });
      }
      return found;
    },
    gangs: gangsByNamespace(gangs),
    leafOf: null,
    problems: forests.flatMap(({ problems }) => problems),
  };
}

function isUsable({ name, gpu }: KaiQueue): boolean {
  return !ownQueues.has(name) && gpu !== null && (gpu.quota !== 0 || gpu.overQuotaWeight !== 0 || gpu.limit !== 0);
}
