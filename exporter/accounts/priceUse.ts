import type { PriceGroup, Prices } from "../analysis/prices/prices.ts";
import type { PricesInUse, UsedPrice } from "./posting.ts";

/** Reports when the counted prices change. */
export interface PriceUse {
  /** What is in use from `since` on; `null` while nothing has changed. Only `commit` makes it the state to compare with. */
  prepare(prices: Prices, since: number): { readonly inUse: PricesInUse | null; commit(): void };
}

/** The most kinds of nodes whose prices are kept; of more, those with the most GPUs. */
const mostPrices = 5000;

/** Creates a watch that has seen no price: the first prices are reported in any case, whatever the process before had used. */
export function createPriceUse(): PriceUse {
  let last: Prices | null = null;
  let lastKeys: ReadonlySet<string> | null = null;

  return {
    prepare(prices, since) {
      if (prices === last) return { inUse: null, commit() {} };
      const used = new Map<string, UsedPrice>();
      for (const group of largest(prices.groups)) {
        const price = usedPrice(group);
        // A price that is asked for again and again gets a later date without becoming another price.
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
