import type { Workload } from "../cluster/world.ts";
import { askedGpus } from "./membership.ts";
import { byCheapest, type QueueRules, reclaimed } from "./rules.ts";
import type { QueueingSpec, VolcanoQueueSpec } from "./spec.ts";

type VolcanoSpec = NonNullable<QueueingSpec["volcano"]>;

/** GPUs that each queue deserves: by weight, up to its request (`proportion`), or as written (`capacity`). */
export function deservedByQueue(
  { plugin, queues }: VolcanoSpec,
  requested: ReadonlyMap<string, number>,
  total: number,
): ReadonlyMap<string, number> {
  const floor = (queue: VolcanoQueueSpec): number => queue.guarantee ?? 0;
  const cap = (queue: VolcanoQueueSpec): number => queue.capability ?? Number.POSITIVE_INFINITY;
  if (plugin === "capacity") {
    return new Map(
      queues.map((queue) => [queue.name, Math.max(floor(queue), Math.min(queue.deserved ?? 0, cap(queue)))]),
    );
  }
  const deserved = new Map(queues.map((queue) => [queue.name, 0]));
  const wants = (queue: VolcanoQueueSpec): number => Math.min(cap(queue), requested.get(queue.name) ?? 0);
  let open = queues.filter((queue) => wants(queue) > 0);
  let remaining = total;
  while (open.length > 0 && remaining > 1e-9) {
    const weights = open.reduce((sum, queue) => sum + queue.weight, 0);
    let given = 0;
    for (const queue of open) {
      const before = deserved.get(queue.name) ?? 0;
      const after = Math.max(floor(queue), Math.min(before + (remaining * queue.weight) / weights, wants(queue)));
      deserved.set(queue.name, after);
      given += after - before;
    }
    remaining -= given;
    open = open.filter((queue) => (deserved.get(queue.name) ?? 0) < wants(queue) - 1e-9);
    if (given < 1e-9) break;
  }
  return deserved;
}

/** The GPUs that workloads ask for, by queue. */
export function sumByQueue(workloads: readonly Workload[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { spec } of workloads) sums.set(spec.queue ?? "", (sums.get(spec.queue ?? "") ?? 0) + askedGpus(spec));
  return sums;
}

/**
 * The rules of Volcano: the queue with the lowest share of what it deserves goes first; queues above what they deserve give
 * back what others deserve.
 */
export function volcanoRules(
  spec: VolcanoSpec,
  priorityOf: (workload: Workload) => number,
  freeFor: (workload: Workload) => number,
  totalFor: (workload: Workload) => number,
): QueueRules {
  let waitingNow: readonly Workload[] = [];
  const deserved = (workload: Workload, running: readonly Workload[]): ReadonlyMap<string, number> =>
    deservedByQueue(spec, sumByQueue([...new Set([...running, ...waitingNow])]), totalFor(workload));
  const share = (workload: Workload, running: readonly Workload[]): number => {
    const queue = workload.spec.queue ?? "";
    const own = deserved(workload, running).get(queue) ?? 0;
    const allocated = sumByQueue(running).get(queue) ?? 0;
    return own > 0 ? allocated / own : allocated > 0 ? 1 : 0;
  };
  const queueOf = (workload: Workload): VolcanoQueueSpec | undefined =>
    spec.queues.find(({ name }) => name === workload.spec.queue);
  const below = (workload: Workload, running: readonly Workload[], amount: number): boolean =>
    (sumByQueue(running).get(workload.spec.queue ?? "") ?? 0) + askedGpus(workload.spec) <= amount;
  return {
    system: "volcano",
    order: (waiting, running) => {
      waitingNow = waiting;
      return [...waiting].sort(
        (a, b) => share(a, running) - share(b, running) || priorityOf(b) - priorityOf(a) || a.serial - b.serial,
      );
    },
    allows: (workload, running) =>
      below(workload, running, queueOf(workload)?.capability ?? Number.POSITIVE_INFINITY) &&
      freeFor(workload) >= askedGpus(workload.spec),
    victims: (workload, running) => {
      if (!below(workload, running, deserved(workload, running).get(workload.spec.queue ?? "") ?? 0)) return [];
      const missing = askedGpus(workload.spec) - freeFor(workload);
      return reclaimed(
        running,
        byCheapest(priorityOf),
        missing,
        (victim, left) =>
          victim.spec.queue !== workload.spec.queue && queueOf(victim)?.reclaimable === true && share(victim, left) > 1,
      );
    },
    blocksQueue: () => false,
  };
}
