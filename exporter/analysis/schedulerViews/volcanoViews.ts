import type { Queueing } from "../../join/queues/queueing.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { SchedulerView } from "./schedulerView.ts";
import { proportionDeserved, volcanoShare } from "./volcanoDeserved.ts";

/** The plugin of Volcano that gives queues their share. */
export type VolcanoPlugin = "proportion" | "capacity";

/**
 * Volcano's deserved GPUs, its share in GPUs alone, and its own count of what each queue holds. The plugin `capacity`
 * deserves what is written (the join already took the larger of that and the guarantee, within the capability).
 */
export function volcanoViews(
  queueing: Queueing,
  objects: QueueObjects,
  plugin: VolcanoPlugin,
  isGpu: (resource: string) => boolean,
): readonly SchedulerView[] {
  const views: SchedulerView[] = [];
  const heldByName = new Map<string, number>();
  for (const [i, domain] of queueing.domains.entries()) {
    const all = queueing.queues.filter(
      (queue) => queue.domain === i && queue.scheduler === "volcano" && queue.kind !== "Scheduler",
    );
    for (const { name, held } of all) heldByName.set(name, (heldByName.get(name) ?? 0) + held);
    if (domain.unknownBecause !== null || all.length === 0) continue;
    const leaves = plugin === "capacity" ? all : all.filter(({ isLeaf }) => isLeaf);
    const deserved =
      plugin === "capacity"
        ? leaves.map(({ guaranteed, limit }) => Math.min(guaranteed, limit))
        : proportionDeserved(
            leaves.map(({ weight, guaranteed, limit, held, pending }) => ({
              weight,
              guarantee: guaranteed,
              realCapability: limit,
              request: held + pending,
            })),
            domain.capacity,
          );
    for (const [position, { name, held }] of leaves.entries()) {
      const gpus = deserved[position] ?? 0;
      const base = { scheduler: "volcano", kind: "Queue", name, shard: domain.name, reported: null } as const;
      views.push({ ...base, number: "volcano-deserved", computed: gpus });
      views.push({ ...base, number: "volcano-share", computed: volcanoShare(held, gpus) });
    }
  }
  for (const { name, allocated } of objects.volcanoQueues) {
    if (allocated === null) continue;
    const reported = Object.entries(allocated).reduce(
      (sum, [resource, amount]) => (isGpu(resource) ? sum + amount : sum),
      0,
    );
    const computed = heldByName.get(name) ?? null;
    views.push({
      scheduler: "volcano",
      number: "volcano-allocated-gpus",
      kind: "Queue",
      name,
      shard: "",
      computed,
      reported,
    });
  }
  return views;
}
