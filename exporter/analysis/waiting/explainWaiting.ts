import type { QueueSettings } from "../../config/queuesSchema.ts";
import type { Queueing } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { matchesPattern } from "../../kernel/namePattern.ts";
import { findFreeCapacities } from "../freeCapacity/freeCapacities.ts";
import { findGangFreeCapacities, type GangFreeCapacities } from "../freeCapacity/gangFreeCapacities.ts";
import { createStatedCauses } from "../freeCapacity/statedReason.ts";
import { causeOf } from "./causeOf.ts";
import { findDeadlocks } from "./deadlocks.ts";
import { findPartialGangs } from "./partialGangs.ts";
import { createQueueAllowance } from "./queueAllowance.ts";
import { noWaiting, type Waiting, type WaitingWork } from "./waiting.ts";
import { createWaitTotals } from "./waitTotals.ts";

/** The settings that waiting is judged by. */
export type WaitSettings = Pick<QueueSettings, "waitTargets">;

/**
 * Why everything waits that waits, how long, and which gangs hold GPUs without running. Pure; `rooms` are those of the
 * snapshot.
 */
export function explainWaiting(
  snapshot: Snapshot,
  settings: WaitSettings,
  freeCapacities: GangFreeCapacities = findGangFreeCapacities(snapshot, findFreeCapacities(snapshot)),
): Waiting {
  const { queueing, at } = snapshot;
  const partialGangs = findPartialGangs(snapshot);
  if (queueing.gangs.length === 0 && partialGangs.length === 0) return noWaiting;
  const evidence = {
    snapshot,
    freeCapacities,
    statedCause: createStatedCauses(),
    queueAllowance: createQueueAllowance(queueing),
    heads: strictHeads(queueing),
  };
  const targetOf = createTargets(settings);
  const totals = createWaitTotals();
  const work: WaitingWork[] = [];
  for (let index = 0; index < queueing.gangs.length; index++) {
    const gang = queueing.gangs[index];
    if (gang === undefined) continue;
    const ageSeconds = gang.since === null ? null : Math.max(0, at - gang.since);
    const target = ageSeconds === null ? null : targetOf(gang.queue ?? "", gang.priorityClass);
    const isLate = target === null || ageSeconds === null ? null : ageSeconds > target;
    const waiting: WaitingWork = { gang: index, cause: causeOf(gang, index, evidence), ageSeconds, isLate };
    work.push(waiting);
    totals.add(gang, waiting);
  }
  return { work, queues: totals.total(), partialGangs, deadlocks: findDeadlocks(snapshot, partialGangs) };
}

/** The first gang without reserved quota of every leaf that serves strictly in order. */
function strictHeads({ queues, gangs }: Queueing): ReadonlyMap<number, number> {
  const heads = new Map<number, number>();
  for (const [index, queue] of queues.entries()) {
    if (!queue.isStrictOrder) continue;
    const head = queue.gangs.find((gang) => gangs[gang]?.never === null && gangs[gang]?.reservedAt === null);
    if (head !== undefined) heads.set(index, head);
  }
  return heads;
}

/** Finds the wait target of a queue and class, seconds; `null` without one. */
function createTargets({ waitTargets }: WaitSettings): (queue: string, priorityClass: string) => number | null {
  if (waitTargets.length === 0) return () => null;
  const known = new Map<string, Map<string, number | null>>();
  return (queue, priorityClass) => {
    const byClass = known.get(queue) ?? new Map<string, number | null>();
    known.set(queue, byClass);
    const target = byClass.get(priorityClass);
    if (target !== undefined) return target;
    const found =
      waitTargets.find((t) => matchesPattern(t.queue, queue) && matchesPattern(t.priorityClass, priorityClass))
        ?.seconds ?? null;
    byClass.set(priorityClass, found);
    return found;
  };
}
