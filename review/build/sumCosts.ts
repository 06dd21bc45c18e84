import { sortedRecord } from "../../exporter/history/totalsSum.ts";
import type { Costs } from "../document/parts.ts";

/** Adds up money, each currency by itself. The currencies are in the order of their names. */
export function sumCosts(all: Iterable<Costs>): Costs {
  const sums = new Map<string, number>();
  for (const costs of all)
    for (const [currency, cost] of Object.entries(costs)) sums.set(currency, (sums.get(currency) ?? 0) + cost);
  return sortedRecord(sums);
}

/** The currency to show where only one can be shown: the one with the largest amount; `null` without money. */
export function mainCurrency(costs: Costs): string | null {
  const [first] = Object.entries(costs).sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return first?.[0] ?? null;
}

/** The largest amount, whatever its currency, by which lists with costs are sorted; 0 without money. */
export const largestCost = (costs: Costs): number => Math.max(0, ...Object.values(costs));
