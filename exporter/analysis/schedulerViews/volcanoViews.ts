import type { Queueing, QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { SchedulerView } from "./schedulerView.ts";
import { proportionDeserved, volcanoShare } from "./volcanoDeserved.ts";

/** The plugin of Volcano that gives queues their share. */
export type VolcanoPlugin = "proportion" | "capacity";

/** Volcano's deserved GPUs, its share over GPUs alone, and its own count of what each queue holds. */
export function volcanoViews(
  queueing: Queueing,
  objects: QueueObjects,
  plugin: VolcanoPlugin,
  isGpu: (resource: string) => boolean,
): readonly SchedulerView[] {
  const queues = queueing.queues.filter(({ scheduler }) => scheduler === "volcano");
  const shares = queueing.domains.flatMap((domain, i) => {
    const here = queues.filter((queue) => queue.domain === i && queue.kind !== "Scheduler");
    return domain.unknownBecause === null ? shareViews(domain, here, plugin) : [];
  });
  return [...shares, ...allocatedViews(queues, objects, isGpu)];
}

function shareViews(
  domain: QuotaDomain,
  queues: readonly QueueView[],
  plugin: VolcanoPlugin,
): readonly SchedulerView[] {
  const counted = plugin === "capacity" ? queues : queues.filter(({ isLeaf }) => isLeaf);
  const deserved = deservedOf(domain, counted, plugin);
  return counted.flatMap(({ name, allocated }, position) => {
    const gpus = deserved[position] ?? 0;
    const base = { scheduler: "volcano", kind: "Queue", name, shard: domain.name, reported: null } as const;
    return [
      { ...base, number: "volcano-deserved", computed: gpus },
      { ...base, number: "volcano-share", computed: volcanoShare(allocated, gpus) },
    ] as const;
  });
}

/**
 * The deserved GPUs of queues. With the plugin `capacity`, these are the configured ones: the join has already taken the larger
 * of them and the guarantee.
 */
function deservedOf(domain: QuotaDomain, queues: readonly QueueView[], plugin: VolcanoPlugin): readonly number[] {
  if (plugin === "capacity") return queues.map(({ guaranteed, limit }) => Math.min(guaranteed, limit));
  const inputs = queues.map(({ weight, guaranteed, limit, allocated, pending }) => ({
    weight,
    guarantee: guaranteed,
    realCapability: limit,
    request: allocated + pending,
  }));
  return proportionDeserved(inputs, domain.capacity);
}

/** What the queues of Volcano hold, by pods and as Volcano reports it. */
function allocatedViews(
  queues: readonly QueueView[],
  { volcanoQueues }: QueueObjects,
  isGpu: (resource: string) => boolean,
): readonly SchedulerView[] {
  const byPods = new Map<string, number>();
  for (const { kind, name, allocated: gpus } of queues) {
    // Volcano has a queue `root` above all others.
    const key = kind === "Scheduler" ? "root" : name;
    byPods.set(key, (byPods.get(key) ?? 0) + gpus);
  }
  return volcanoQueues.flatMap(({ name, allocated }) => {
    if (allocated === null) return [];
    const amounts = Object.entries(allocated);
    const reported = amounts.reduce((sum, [resource, amount]) => (isGpu(resource) ? sum + amount : sum), 0);
    const base = { scheduler: "volcano", number: "volcano-allocated-gpus", kind: "Queue", shard: "" } as const;
    return [{ ...base, name, computed: byPods.get(name) ?? null, reported }];
  });
}
