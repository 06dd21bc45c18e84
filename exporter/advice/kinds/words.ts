import { addHourlyCost } from "../../analysis/prices/addHourlyCost.ts";
import type { Prices } from "../../analysis/prices/prices.ts";

/** An amount of GPUs: `8`, `0.5`. */
export const gpuWords = (gpus: number): string => `${Number(gpus.toFixed(2))}`;

/** A duration in its two largest units: `3 h 10 min`, `2 d 4 h`, `45 s`. */
export function durationWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** A ratio as percent: `23 %`. */
export const percentWords = (ratio: number): string => `${Math.round(ratio * 100)} %`;

/** `1 pod`, `3 pods`. */
export const countWords = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/**
 * What GPUs cost per hour while they are paid for, in words: price per GPU-hour x GPUs, for each currency in order. GPUs of
 * nodes without a price are left out; empty if no node has a price.
 */
export const hourlyCostWords = (prices: Prices, gpusByNode: ReadonlyMap<string, number>): string =>
  costs(prices, gpusByNode, 1)
    .map((cost) => `${cost} an hour`)
    .join(" and ");

/** What GPUs cost in this many hours, in the same form: `59 USD`. */
export const costWords = (prices: Prices, gpusByNode: ReadonlyMap<string, number>, hours: number): string =>
  costs(prices, gpusByNode, hours).join(" and ");

function costs(prices: Prices, gpusByNode: ReadonlyMap<string, number>, hours: number): readonly string[] {
  const amounts = new Map<string, number>();
  for (const [node, gpus] of gpusByNode) {
    const price = prices.byNode.get(node);
    if (price === undefined) continue;
    addHourlyCost(amounts, price, gpus * hours);
  }
  return [...amounts]
    .filter(([, amount]) => amount >= 0.005)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, amount]) => `${amountWords(amount)} ${currency}`);
}

/** An amount of money: `1,234`, `19.60`. */
function amountWords(amount: number): string {
  const text = amount >= 100 || Number.isInteger(amount) ? `${Math.round(amount)}` : amount.toFixed(2);
  return text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
}
