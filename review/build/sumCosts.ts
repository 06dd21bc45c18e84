import { bareRecord } from "../../exporter/kernel/bareRecord.ts";
import type { Costs } from "../document/parts.ts";

/** Adds money up, each currency by itself; in the order of their names. */
export function sumCosts(all: Iterable<Costs>): Costs {
  const sums = bareRecord<number>();
  for (const costs of all)
    for (const [currency, cost] of Object.entries(costs)) sums[currency] = (sums[currency] ?? 0) + cost;
  const sorted = bareRecord<number>();
  for (const currency of Object.keys(sums).sort()) sorted[currency] = sums[currency] ?? 0;
  return sorted;
}

/** The currency that comes first where only one can be shown: the one with the largest amount; `null` without money. */
export function mainCurrency(costs: Costs): string | null {
  const [first] = Object.entries(costs).sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  return first?.[0] ?? null;
}

/** The largest amount, whatever its currency: by what lists of money are ordered. 0 without money. */
export const largestCost = (costs: Costs): number => Math.max(0, ...Object.values(costs));
