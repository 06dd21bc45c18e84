import type { Workload } from "../cluster/world.ts";
import { askedGpus } from "./membership.ts";
import { byCheapest, type QueueRules, reclaimed } from "./rules.ts";
import type { KaiQueueSpec } from "./spec.ts";

const unlimited = (amount: number): number => (amount < 0 ? Number.POSITIVE_INFINITY : amount);

/** The queue and its ancestors, the nearest first. */
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

/** GPUs of the given work in the subtree of each queue. */
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
 * The rules of KAI. Limits count along the line of queues. Work within quota comes first, then the queue that holds the
 * smallest part of what its quota and weight give it. A queue within its quota takes it back from queues that are above theirs.
 * With `shares` (fair shares by past use), queues within their share come first, then work within quota, then the queue that
 * has the smallest part of its share; a queue also takes back what others hold above their shares, as far as its own share
 * reaches (plugins/proportion, queue_order and reclaimable/strategies).
 */
export function kaiRules(
  queues: readonly KaiQueueSpec[],
  priorityOf: (workload: Workload) => number,
  freeFor: (workload: Workload) => number,
  shares: ReadonlyMap<string, number> | null = null,
): QueueRules {
  /** What no other queue takes from a queue: its quota, or its share where that is more. */
  const sureOf = ({ name, quota }: KaiQueueSpec): number => Math.max(unlimited(quota), shares?.get(name) ?? 0);
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
    const whole = shares === null ? unlimited(queue.quota) + queue.overQuotaWeight : sureOf(queue);
    return (allocatedByQueue(queues, running).get(queue.name) ?? 0) / Math.max(1e-9, whole);
  };
  const isAboveShare = (workload: Workload, running: readonly Workload[]): boolean =>
    shares !== null && saturation(workload, running) > 1;
  const fitsShare = (workload: Workload, running: readonly Workload[]): boolean => {
    const [queue] = lineage(queues, workload.spec.queue);
    if (shares === null || queue === undefined) return false;
    const allocated = allocatedByQueue(queues, running).get(queue.name) ?? 0;
    return allocated + askedGpus(workload.spec) <= (shares.get(queue.name) ?? 0);
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
          Number(isAboveShare(a, running)) - Number(isAboveShare(b, running)) ||
          Number(withinQuota(b, running)) - Number(withinQuota(a, running)) ||
          saturation(a, running) - saturation(b, running) ||
          priorityOf(b) - priorityOf(a) ||
          a.serial - b.serial,
      ),
    allows: (workload, running) => allowed(workload, running) && freeFor(workload) >= askedGpus(workload.spec),
    victims: (workload, running) => {
      const isWithinQuota = withinQuota(workload, running);
      if (!isWithinQuota && !fitsShare(workload, running)) return [];
      const missing = askedGpus(workload.spec) - freeFor(workload);
      return reclaimed(running, byCheapest(priorityOf), missing, (victim, left) => {
        const [queue] = lineage(queues, victim.spec.queue);
        const kept = queue === undefined ? 0 : isWithinQuota ? unlimited(queue.quota) : sureOf(queue);
        const isOver = (allocatedByQueue(queues, left).get(queue?.name ?? "") ?? 0) > kept;
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
