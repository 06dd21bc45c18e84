import type { Analysis } from "../../analysis/analysis.ts";
import { isoDay } from "../../kernel/isoTime.ts";
import type { PriceSource } from "../../model/prices.ts";
import type { OwnCost } from "../document/costRecords.ts";
import { gpus, plainText } from "./columns.ts";

/** What the GPUs of one owner cost per hour: `$ 213`, with `+?` where some have no price; an en dash where none has. */
export function costText(cost: OwnCost | null, currency: string): string {
  if (cost === null || cost.costPerHour === null) return "–";
  return `${money(cost.costPerHour, currency)}${cost.unpricedGpus > 1e-9 ? "+?" : ""}`;
}

/** The sources of prices in words. */
export const priceSourceNames: Readonly<Record<PriceSource, string>> = {
  file: "your file",
  opencost: "OpenCost",
  table: "Fairlead's table",
  "table-other-region": "Fairlead's table, price of another region",
};

/** The sources of prices, their dates, and what they contain; empty if nothing has a price. */
export function priceTexts({ prices }: Analysis): readonly string[] {
  const oldest = new Map<string, { readonly text: string; readonly basis: string; date: number; isStale: boolean }>();
  let unpriced = 0;
  for (const { price, physicalGpus } of prices.groups) {
    if (price === null) unpriced += physicalGpus;
    else {
      const { source, basis, date, isStale } = price;
      const known = oldest.get(`${source} ${basis}`) ?? { text: priceSourceNames[source], basis, date, isStale };
      known.date = Math.min(known.date, date);
      known.isStale ||= isStale;
      oldest.set(`${source} ${basis}`, known);
    }
  }
  if (oldest.size === 0) return [];
  const texts = [...oldest.values()].map(({ text, basis, date, isStale }) => {
    const day = isoDay(date);
    return `${text} of ${day}${isStale ? " (stale)" : ""}, ${basis}`;
  });
  return [`prices: ${texts.join("; ")}`, ...(unpriced > 0 ? [`no price for ${gpus(unpriced)} GPUs`] : [])];
}

/** An amount as people write it: `$ 9.50`, `$ 1,320`, `EUR 12.30`. */
export function money(amount: number, currency: string): string {
  const digits = Math.abs(amount) < 100 ? 2 : 0;
  const text = amount.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${currency === "USD" ? "$" : plainText(currency, 16)} ${text}`;
}
