import type { PriceGroup } from "../../analysis/prices/prices.ts";
import { unknown } from "../../analysis/sums/momentSums.ts";
import type { pricesMetrics } from "../../catalogue/prices.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** What GPUs cost, and how good the prices are. */
export const pricesProducers: Producers<keyof typeof pricesMetrics> = {
  fairlead_price_per_gpu_hour: (input) => {
    const { cluster } = input.health;
    const means = addUp(groupsOf(input), ({ pool, nodePool, instanceType, capacityType, price, physicalGpus }) =>
      price === null
        ? null
        : {
            labels: {
              cluster,
              pool,
              node_pool: nodePool || unknown,
              instance_type: instanceType ?? unknown,
              capacity_type: capacityType ?? unknown,
              currency: price.currency,
              price_basis: price.basis,
              price_source: price.source,
            },
            amount: price.perGpuHour * physicalGpus,
            weight: physicalGpus,
          },
    );
    return means.flatMap(({ labels, amount, weight }) => (weight > 0 ? [{ labels, value: amount / weight }] : []));
  },
  fairlead_price_age_seconds: (input) => {
    const { cluster } = input.health;
    const now = input.moment?.analysis.snapshot.at ?? 0;
    const oldest = new Map<
      string,
      { labels: { cluster: string; price_source: string; currency: string }; date: number }
    >();
    for (const { price } of groupsOf(input)) {
      if (price === null) continue;
      const labels = { cluster, price_source: price.source, currency: price.currency };
      const key = JSON.stringify(labels);
      const known = oldest.get(key);
      if (known === undefined || price.date < known.date) oldest.set(key, { labels, date: price.date });
    }
    return [...oldest.values()].map(({ labels, date }) => ({ labels, value: Math.max(0, now - date) }));
  },
  fairlead_stale_price_gpus: (input) => {
    const { cluster } = input.health;
    return addUp(groupsOf(input), ({ pool, price, physicalGpus }) =>
      price === null ? null : { labels: { cluster, pool }, amount: price.isStale ? physicalGpus : 0, weight: 0 },
    ).map(({ labels, amount }) => ({ labels, value: amount }));
  },
  fairlead_unpriced_gpus: (input) => {
    const { cluster } = input.health;
    return addUp(groupsOf(input), ({ pool, nodePool, capacityType, unpriced, physicalGpus }) =>
      unpriced === null
        ? null
        : {
            labels: {
              cluster,
              pool,
              node_pool: nodePool || unknown,
              capacity_type: capacityType ?? unknown,
              reason: unpriced,
            },
            amount: physicalGpus,
            weight: 0,
          },
    ).map(({ labels, amount }) => ({ labels, value: amount }));
  },
};

function groupsOf({ moment }: FamilyInput): readonly PriceGroup[] {
  return moment?.analysis.prices.groups ?? [];
}

interface Part<Labels> {
  readonly labels: Labels;
  readonly amount: number;
  readonly weight: number;
}

/** Adds up the parts that have the same labels, in the order in which those come up. */
function addUp<Labels>(
  groups: readonly PriceGroup[],
  partOf: (group: PriceGroup) => Part<Labels> | null,
): readonly Part<Labels>[] {
  const sums = new Map<string, { readonly labels: Labels; amount: number; weight: number }>();
  for (const group of groups) {
    const part = partOf(group);
    if (part === null) continue;
    const key = JSON.stringify(part.labels);
    const known = sums.get(key);
    if (known === undefined) sums.set(key, { ...part });
    else {
      known.amount += part.amount;
      known.weight += part.weight;
    }
  }
  return [...sums.values()];
}
