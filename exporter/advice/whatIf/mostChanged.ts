import { firstInOrder } from "../../kernel/firstInOrder.ts";

/** Held minus entitled physical GPUs of leaf queues, by index. */
export type Deviations = ReadonlyMap<number, number>;

/**
 * The most queues whose deviations are part of an effect. What one queue gives up may raise the entitlement of all others by a
 * little: beside 2,000 queues one plan changed 514, and an exporter remembers up to 1,000 recommendations.
 */
const mostQueues = 20;

/**
 * The queues (indices) whose deviation a plan changes most, under the placement rule that changes it more: the most changed
 * first, and those that change alike by index. `after`: the changed deviations under each rule.
 */
export function mostChanged(before: (queue: number) => number, after: readonly Deviations[]): readonly number[] {
  const changes = new Map<number, number>();
  for (const deviations of after)
    for (const [queue, gpus] of deviations)
      changes.set(queue, Math.max(changes.get(queue) ?? 0, Math.abs(gpus - before(queue))));
  return firstInOrder(changes, mostQueues, ([a, own], [b, other]) => other - own || a - b).map(([queue]) => queue);
}
