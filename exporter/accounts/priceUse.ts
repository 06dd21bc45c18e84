import type { PriceGroup, Prices } from "../analysis/prices/prices.ts";
import type { PricesInUse, UsedPrice } from "./posting.ts";

/** Says when other prices are counted than before. */
export interface PriceUse {
  /** What is in use from `since` on; `null` while it is what was in use before. Only `commit` makes it what was before. */
  prepare(prices: Prices, since: number): { readonly inUse: PricesInUse | null; commit(): void };
}

/** Kinds of nodes whose prices are kept; of more, those with most GPUs. */
const mostPrices = 5000;

/** Creates a watch that has seen no price: the first ones are said in any case, whatever the process before had used. */
export function createPriceUse(): PriceUse {
  let last: Prices | null = null;
  let lastKeys: ReadonlySet<string> | null = null;

  return {
    prepare(prices, since) {
      if (prices === last) return { inUse: null, commit() {} };
      const used = new Map<string, UsedPrice>();
      for (const group of largest(prices.groups)) {
        const price = usedPrice(group);
        // The date of a price that is asked for again and again moves, and the price does not.
        const key = JSON.stringify({ ...price, dated: null });
        if (!used.has(key)) used.set(key, price);
      }
      const before = lastKeys;
      const isSame = before !== null && before.size === used.size && [...used.keys()].every((key) => before.has(key));
      return {
        inUse: isSame ? null : { since, prices: [...used.values()] },
        commit() {
          last = prices;
          lastKeys = new Set(used.keys());
        },
      };
    },
  };
}

function largest(groups: readonly PriceGroup[]): readonly PriceGroup[] {
  if (groups.length <= mostPrices) return groups;
  return [...groups].sort((a, b) => b.physicalGpus - a.physicalGpus).slice(0, mostPrices);
}

function usedPrice({ pool, nodePool, instanceType, capacityType, price }: PriceGroup): UsedPrice {
  return {
    pool,
    nodePool,
    instanceType,
    capacityType,
    currency: price?.currency ?? null,
    basis: price?.basis ?? null,
    source: price?.source ?? null,
    dated: price?.date ?? null,
    perGpuHour: price?.perGpuHour ?? null,
  };
}
