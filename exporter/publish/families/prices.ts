import type { PriceGroup } from "../../analysis/prices/prices.ts";
import { unknown } from "../../analysis/sums/momentSums.ts";
import type { pricesMetrics } from "../../catalogue/prices.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { combined } from "./combined.ts";

/** What GPUs cost, and how good the prices are. */
export const pricesProducers: Producers<keyof typeof pricesMetrics> = {
  fairlead_price_per_gpu_hour: (input) => {
    const samples = priced(input).map((group) => {
      const { instanceType, price, physicalGpus } = group;
      const labels = {
        ...labelsOf(group),
        instance_type: instanceType ?? unknown,
        currency: price.currency,
        price_basis: price.basis,
        price_source: price.source,
      };
      return { labels, price: price.perGpuHour, physicalGpus };
    });
    const gpus = combined(samples.map(({ labels, physicalGpus }) => ({ labels, value: physicalGpus })));
    const costs = combined(samples.map(({ labels, price, physicalGpus }) => ({ labels, value: price * physicalGpus })));
    return costs.map(({ labels, value }, i) => {
      const weight = gpus[i]?.value ?? 0;
      return { labels, value: weight > 0 ? value / weight : null };
    });
  },
  fairlead_price_age_seconds: (input) => {
    const now = input.moment?.analysis.snapshot.at ?? 0;
    const ages = priced(input).map(({ price }) => ({
      labels: { price_source: price.source, currency: price.currency },
      value: Math.max(0, now - price.date),
    }));
    return combined(ages, Math.max);
  },
  fairlead_stale_price_gpus: (input) =>
    combined(
      priced(input).map(({ pool, price, physicalGpus }) => ({
        labels: { pool },
        value: price.isStale ? physicalGpus : 0,
      })),
    ),
  fairlead_unpriced_gpus: ({ moment }) =>
    combined(
      (moment?.analysis.prices.groups ?? []).flatMap((group) =>
        group.unpriced === null
          ? []
          : [{ labels: { ...labelsOf(group), reason: group.unpriced }, value: group.physicalGpus }],
      ),
    ),
};

/** The groups of nodes that have a price. */
function priced({ moment }: FamilyInput) {
  return (moment?.analysis.prices.groups ?? []).flatMap(({ price, ...group }) =>
    price === null ? [] : [{ ...group, price }],
  );
}

function labelsOf({ pool, nodePool, capacityType }: Pick<PriceGroup, "pool" | "nodePool" | "capacityType">) {
  return { pool, node_pool: nodePool || unknown, capacity_type: capacityType ?? unknown };
}
