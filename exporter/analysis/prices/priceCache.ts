import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { PriceList } from "../../model/prices.ts";
import { isPricedAs } from "./nodeKinds.ts";
import type { PriceSettings } from "./priceNodes.ts";
import type { Prices } from "./prices.ts";

/** The prices of the moment before, for as long as nothing changes that they depend on. They change no answer. */
export interface PriceCache {
  last: KnownPrices | null;
}

/** Prices, and what they were found for. */
interface KnownPrices {
  readonly prices: Prices;
  readonly nodes: readonly NodeView[];
  readonly account: PriceList;
  readonly settings: PriceSettings;
  /** Those that the price list looks at. */
  readonly labels: readonly string[];
  /** From when until before when they hold, seconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

/** A cache that has seen nothing yet. */
export const createPriceCache = (): PriceCache => ({ last: null });

/** The prices of the moment before, if they are those of this moment, too; `null`: they are not known to be. */
export function knownPrices(cache: PriceCache, snapshot: Snapshot, settings: PriceSettings): Prices | null {
  const { last } = cache;
  const { nodes, at } = snapshot;
  if (last === null || at < last.from || at >= last.until) return null;
  if (last.account !== snapshot.priceList || nodes.length !== last.nodes.length) return null;
  if (last.settings.basis !== settings.basis || last.settings.staleDays !== settings.staleDays) return null;
  if (!nodes.every((node, index) => isPricedAs(last.nodes[index], node, last.labels))) return null;
  // Next time most nodes are the same objects as now.
  cache.last = { ...last, nodes };
  return last.prices;
}

/** Keeps the prices of a moment for those after it. */
export function keepPrices(
  cache: PriceCache,
  { nodes, priceList: account, at }: Snapshot,
  settings: PriceSettings,
  labels: readonly string[],
  prices: Prices,
): void {
  let until = Number.POSITIVE_INFINITY;
  for (const { validFrom } of account.listed)
    if (validFrom !== null && validFrom > at) until = Math.min(until, validFrom);
  for (const { price } of prices.groups)
    if (price !== null && !price.isStale) until = Math.min(until, price.date + settings.staleDays * 86_400);
  cache.last = { prices, nodes, account, settings, labels, from: at, until };
}
