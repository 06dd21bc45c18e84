import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { EffectMeasures } from "../../../exporter/model/recommendation.ts";

/** The measures of a whole cluster, read from its analysis: numbers and, by queue, deviations. */
export function wholeMeasures({ snapshot, placement, pools, blocked, idleNodes, prices, fairness }: Analysis) {
  const sum = <Item>(list: readonly Item[], of: (item: Item) => number) =>
    list.reduce((total, item) => total + of(item), 0);
  const { queues, domains } = snapshot.queueing;
  return {
    numbers: {
      blockedGpus: sum(blocked.work, ({ gpus }) => gpus),
      pendingGpus: sum(queues, ({ isLeaf, pending }) => (isLeaf ? pending : 0)),
      freeGpus: sum(placement.pools, ({ freeGpus }) => freeGpus),
      one: sum(placement.pools, ({ placeablePods }) => placeablePods[1]),
      two: sum(placement.pools, ({ placeablePods }) => placeablePods[2]),
      four: sum(placement.pools, ({ placeablePods }) => placeablePods[4]),
      eight: sum(placement.pools, ({ placeablePods }) => placeablePods[8]),
      wholeFreeNodes: sum(placement.pools, ({ wholeFreeNodes }) => wholeFreeNodes),
      expectedFragmentation: sum(placement.pools, ({ expected }) => expected.gpus),
      idleGpus: sum(pools, ({ states }) => states.idle ?? 0),
      unobservedGpus: sum(pools, ({ states }) => states.unobserved ?? 0),
      idleNodeHoursPerWeek: sum(idleNodes.nodes, ({ kind, isWarmPool, since }) =>
        kind === "unallocated" && !isWarmPool ? Math.min(168, (snapshot.at - since) / 3600) : 0,
      ),
      costPerWeek: sum(prices.groups, ({ price, physicalGpus }) => 168 * physicalGpus * (price?.perGpuHour ?? 0)),
    },
    deviations: new Map(
      queues.flatMap(({ isLeaf, name, domain }, i) => {
        const gpus = fairness.queues[i]?.deviation ?? null;
        return isLeaf && gpus !== null ? [[`${name} in ${domains[domain]?.name}`, gpus] as const] : [];
      }),
    ),
  };
}

/** The numbers of measures in the same shape. */
export function numbersOf(measures: EffectMeasures): ReturnType<typeof wholeMeasures>["numbers"] {
  const { placeablePods, costPerWeek, deviations: _, ...rest } = measures;
  return {
    ...rest,
    one: placeablePods[1],
    two: placeablePods[2],
    four: placeablePods[4],
    eight: placeablePods[8],
    costPerWeek: costPerWeek.reduce((sum, { amount }) => sum + amount, 0),
  };
}
