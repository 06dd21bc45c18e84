import type { Analysis } from "../../analysis/analysis.ts";
import type { NodePrice, PriceGroup } from "../../analysis/prices/prices.ts";
import { momentOf } from "./order.ts";
import type { PoolRecord, PriceGroupRecord } from "./schema.ts";

/** Prices with the nodes that have them, and nodes without one, in the order of the groups. */
export function priceRecords({ prices }: Analysis): readonly PriceGroupRecord[] {
  return prices.groups.map(({ price, unpriced, ...nodes }) => ({
    ...nodes,
    price: price && priceRecord(price),
    unpriced,
  }));
}

function priceRecord({ origin, ...price }: NodePrice): PriceGroupRecord["price"] {
  return { ...price, date: momentOf(price.date), origin };
}

/** What a pool costs. */
interface PoolCost {
  readonly price: PoolRecord["price"];
  readonly unpricedGpus: number;
}

/** What each pool costs; pools without counted GPUs are left out. */
export function poolCosts({ prices }: Analysis): ReadonlyMap<string, PoolCost> {
  const byPool = Map.groupBy(prices.groups, ({ pool }) => pool);
  return new Map([...byPool].map(([pool, groups]) => [pool, costOf(groups)] as const));
}

function costOf(groups: readonly PriceGroup[]): PoolCost {
  const unpricedGpus = gpusOf(groups.filter(({ price }) => price === null));
  const currency = mainCurrency(groups);
  const priced = groups.flatMap(({ price, physicalGpus }) =>
    price !== null && price.currency === currency ? [{ price, physicalGpus }] : [],
  );
  const gpus = gpusOf(priced);
  const first = priced[0];
  if (first === undefined || gpus === 0 || currency === null) return { price: null, unpricedGpus };
  const perHour = priced.reduce((sum, { price, physicalGpus }) => sum + price.perGpuHour * physicalGpus, 0);
  const { basis, source } = first.price;
  const price = {
    perGpuHour: perHour / gpus,
    perHour,
    gpus,
    currency,
    basis: priced.every((one) => one.price.basis === basis) ? basis : null,
    source: priced.every((one) => one.price.source === source) ? source : null,
    date: momentOf(priced.reduce((least, one) => Math.min(least, one.price.date), first.price.date)),
    isStale: priced.some((one) => one.price.isStale),
  };
  return { price, unpricedGpus };
}

function gpusOf(groups: readonly Pick<PriceGroup, "physicalGpus">[]): number {
  return groups.reduce((sum, { physicalGpus }) => sum + physicalGpus, 0);
}

/**
 * The currency in which most GPUs have a price; of two with equally many GPUs, the first by name. `null` where no GPU has a
 * price.
 */
export function mainCurrency(groups: readonly PriceGroup[]): string | null {
  const gpus = new Map<string, number>();
  for (const { price, physicalGpus } of groups)
    if (price !== null) gpus.set(price.currency, (gpus.get(price.currency) ?? 0) + physicalGpus);
  return [...gpus].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0]?.[0] ?? null;
}
