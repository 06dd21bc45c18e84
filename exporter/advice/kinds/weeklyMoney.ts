import type { Prices } from "../../analysis/prices/prices.ts";
import type { Money } from "../../model/recommendation.ts";

const hoursPerWeek = 168;

/**
 * What GPUs cost in a week, by currency: price per GPU-hour x GPUs x 168 h, by currency in their order. GPUs of nodes without a price are left out.
 */
export function weeklyMoney(prices: Prices, gpusByNode: ReadonlyMap<string, number>): readonly Money[] {
  const amounts = new Map<string, number>();
  for (const [node, gpus] of gpusByNode) {
    const price = prices.byNode.get(node);
    if (price === undefined) continue;
    amounts.set(price.currency, (amounts.get(price.currency) ?? 0) + price.perGpuHour * gpus * hoursPerWeek);
  }
  return [...amounts]
    .filter(([, amount]) => amount > 0)
    .map(([currency, amount]) => ({ currency, amount }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** `3,360 USD a week`; empty text without any. */
export function moneyWords(money: readonly Money[]): string {
  return money.map(({ currency, amount }) => `${thousands(Math.round(amount))} ${currency} a week`).join(" and ");
}

const thousands = (amount: number): string => `${amount}`.replace(/\B(?=(\d{3})+$)/g, ",");
