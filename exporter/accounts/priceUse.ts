import type { PriceGroup, Prices } from "../analysis/prices/prices.ts";
import type { PricesInUse, UsedPrice } from "./posting.ts";

/** Reports when the prices that are counted change. */
export interface PriceUse {
  /**
   * The prices that are in use from `since` on; `null` if they have not changed. Only `commit` makes them the state to compare
   * with.
   */
  prepare(prices: Prices, since: number): { readonly inUse: PricesInUse | null; commit(): void };
}

/** The most kinds of nodes whose prices are kept; if there are more, those with the most GPUs. */
const mostPrices = 5000;

/**
 * Creates the report of prices, which has seen none yet: the first prices are reported in any case, whatever an earlier process
 * has used.
 */
export function createPriceUse(): PriceUse {
  let last: Prices | null = null;
  let lastKeys: ReadonlySet<string> | null = null;

  return {
    prepare(prices, since) {
      if (prices === last) return { inUse: null, commit() {} };
      const used = new Map<string, UsedPrice>();
      for (const group of largest(prices.groups)) {
        const price = usedPrice(group);
        // A source that is asked again and again reports a later date, and the price is still the same.
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
