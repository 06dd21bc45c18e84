import type { AdviceEffect, EffectMeasures } from "../model/recommendation.ts";

/**
 * The most queues that an effect names. What one queue gives up may raise the entitlement of every other queue by a little: in a
 * cluster of 2,000 queues 500 were named for one change, and an exporter that keeps 1,000 recommendations would remember them all.
 */
const mostQueues = 20;

type Sides = Pick<AdviceEffect, "before" | "after">;

/**
 * The sides of an effect with the deviations of those queues only that the plan changes most, under either placement rule: the
 * most changed comes first.
 */
export function withMostChangedQueues({ before, after: { mostAllocated, leastAllocated } }: Sides): Sides {
  const was = deviationByQueue(before);
  const changes = new Map<string, number>();
  for (const measures of [mostAllocated, leastAllocated])
    for (const [queue, gpus] of deviationByQueue(measures))
      changes.set(queue, Math.max(changes.get(queue) ?? 0, Math.abs(gpus - (was.get(queue) ?? 0))));
  const named = [...changes].sort(([, a], [, b]) => b - a).slice(0, mostQueues);
  const rank = new Map(named.map(([queue], i) => [queue, i]));
  const rankOf = (deviation: Deviation): number => rank.get(keyOf(deviation)) ?? mostQueues;
  const bounded = (measures: EffectMeasures): EffectMeasures => ({
    ...measures,
    deviations: measures.deviations
      .filter((deviation) => rankOf(deviation) < mostQueues)
      .sort((a, b) => rankOf(a) - rankOf(b)),
  });
  return {
    before: bounded(before),
    after: { mostAllocated: bounded(mostAllocated), leastAllocated: bounded(leastAllocated) },
  };
}

type Deviation = EffectMeasures["deviations"][number];

const keyOf = ({ queue, domain }: Deviation): string => JSON.stringify([queue, domain]);

const deviationByQueue = ({ deviations }: EffectMeasures): ReadonlyMap<string, number> =>
  new Map(deviations.map((deviation) => [keyOf(deviation), deviation.gpus]));
