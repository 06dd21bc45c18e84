import type { Queueing, QueueView } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { Fairness } from "./fairness.ts";

type NamedQueue = Pick<QueueView, "scheduler" | "kind" | "name">;

/** A text that identifies a queue in each of its domains. */
export const queueName = ({ scheduler, kind, name }: NamedQueue): string => `${scheduler}/${kind}/${name}`;

/** The key under which a fact about a queue of a domain is remembered. */
export const queueKey = (queue: NamedQueue, domain: string): string => `${queueName(queue)}/${domain}`;

/**
 * Since when each leaf has been short of its entitlement without a break, seconds since the epoch, by `queueKey`. `before` is
 * the result of the last moment; queues whose entitlement is not known now keep what was known.
 */
export function shortSince(
  { queues, domains }: Queueing,
  fairness: Fairness,
  before: ReadonlyMap<string, number>,
  at: number,
): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  for (let index = 0; index < queues.length; index++) {
    const queue = queues[index];
    if (queue?.isLeaf !== true) continue;
    const judged = fairness.queues[index] ?? null;
    if (judged !== null && judged.shortfall <= gpuTolerance) continue;
    const key = queueKey(queue, domains[queue.domain]?.name ?? "");
    const known = before.get(key);
    if (judged !== null || known !== undefined) since.set(key, known ?? at);
  }
  return since;
}
