import type { Workload } from "../cluster/world.ts";
import { askedGpus } from "./membership.ts";
import { byCheapest, type QueueRules, reclaimed } from "./rules.ts";
import type { KaiQueueSpec } from "./spec.ts";

const unlimited = (amount: number): number => (amount < 0 ? Number.POSITIVE_INFINITY : amount);

/** The queue and its ancestors, nearest first. */
export function lineage(queues: readonly KaiQueueSpec[], name: string | null): readonly KaiQueueSpec[] {
  const line: KaiQueueSpec[] = [];
  let next = queues.find((each) => each.name === name);
  while (next !== undefined && line.length < 10) {
    line.push(next);
    const { parent }: KaiQueueSpec = next;
    next = queues.find((each) => each.name === parent);
  }
  return line;
}

/** GPUs of running work in the subtree of each queue. */
export function allocatedByQueue(
  queues: readonly KaiQueueSpec[],
  running: readonly Workload[],
): ReadonlyMap<string, number> {
  const allocated = new Map<string, number>();
  for (const workload of running) {
    for (const { name } of lineage(queues, workload.spec.queue)) {
      allocated.set(name, (allocated.get(name) ?? 0) + askedGpus(workload.spec));
    }
  }
  return allocated;
}

/**
 * KAI: limits along the line of queues; work within quota first, then the queue that has least of what its quota and
 * weight say; a queue within its quota takes it back from those above theirs.
 */
export function kaiRules(
  queues: readonly KaiQueueSpec[],
  priorityOf: (workload: Workload) => number,
  freeFor: (workload: Workload) => number,
): QueueRules {
  const isWithin = (
    workload: Workload,
    running: readonly Workload[],
    amount: (queue: KaiQueueSpec) => number,
  ): boolean => {
    const allocated = allocatedByQueue(queues, running);
    return lineage(queues, workload.spec.queue).every(
      (queue) => (allocated.get(queue.name) ?? 0) + askedGpus(workload.spec) <= unlimited(amount(queue)),
    );
  };
  const withinQuota = (workload: Workload, running: readonly Workload[]): boolean =>
    isWithin(workload, running, ({ quota }) => quota);
  const saturation = (workload: Workload, running: readonly Workload[]): number => {
    const [queue] = lineage(queues, workload.spec.queue);
    if (queue === undefined) return Number.POSITIVE_INFINITY;
    return (
      (allocatedByQueue(queues, running).get(queue.name) ?? 0) /
      Math.max(1e-9, unlimited(queue.quota) + queue.overQuotaWeight)
    );
  };
  const allowed = (workload: Workload, running: readonly Workload[]): boolean => {
    if (!isWithin(workload, running, ({ limit }) => limit)) return false;
    return withinQuota(workload, running) || (lineage(queues, workload.spec.queue)[0]?.overQuotaWeight ?? 0) > 0;
  };
  return {
    system: "kai",
    order: (waiting, running) =>
      [...waiting].sort(
        (a, b) =>
          Number(withinQuota(b, running)) - Number(withinQuota(a, running)) ||
          saturation(a, running) - saturation(b, running) ||
          priorityOf(b) - priorityOf(a) ||
          a.serial - b.serial,
      ),
    allows: (workload, running) => allowed(workload, running) && freeFor(workload) >= askedGpus(workload.spec),
    victims: (workload, running) => {
      if (!withinQuota(workload, running)) return [];
      const missing = askedGpus(workload.spec) - freeFor(workload);
      return reclaimed(running, byCheapest(priorityOf), missing, (victim, left) => {
        const [queue] = lineage(queues, victim.spec.queue);
        const isOver = (allocatedByQueue(queues, left).get(queue?.name ?? "") ?? 0) > unlimited(queue?.quota ?? 0);
        const shares =
          victim.spec.models.length === 0 ||
          workload.spec.models.length === 0 ||
          victim.spec.models.some((m) => workload.spec.models.includes(m));
        return (
          isOver &&
          shares &&
          victim.spec.queue !== workload.spec.queue &&
          victim.spec.request.kind === workload.spec.request.kind
        );
      });
    },
    blocksQueue: () => false,
  };
}
