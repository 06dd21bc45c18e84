import type { Analysis } from "../../analysis/analysis.ts";
import { createCostAdder } from "../../analysis/sums/costSums.ts";
import { isoDay } from "../../kernel/isoTime.ts";
import type { PriceSource } from "../../model/prices.ts";
import { costRecord, type OwnCost, ownCosts } from "../document/costRecords.ts";
import { mainCurrency } from "../document/priceRecords.ts";
import { gpus, plainText } from "./columns.ts";

/** What teams cost, as a terminal shows it. */
export interface CostTexts {
  /** Of a team that holds so many GPUs. */
  readonly ofTeam: (team: string, allocated: number) => string;
  /** Of everything that is allocated. */
  readonly allocated: string;
  /** What nobody holds: `+ $ 268 not allocated`; `null` where that is nothing, or where objects were not read. */
  readonly notAllocated: string | null;
}

/** The costs of a moment in words; `null` where nothing has a price. */
export function costTexts(analysis: Analysis): CostTexts | null {
  const currency = mainCurrency(analysis.prices.groups);
  if (currency === null) return null;
  const adder = createCostAdder(analysis);
  for (const accountingEntry of analysis.accountingEntries) adder.add(accountingEntry);
  const { holders } = adder.sums();
  const cost = ownCosts(analysis, holders, ({ team }) => team);
  const all = ownCosts(analysis, holders, () => "all");
  const text = ({ costPerHour, unpricedGpus }: OwnCost): string => {
    if (costPerHour === null) return "–";
    return `${money(costPerHour, currency)}${unpricedGpus > 1e-9 ? "+?" : ""}`;
  };
  const { unallocatedPerHour } = costRecord(analysis);
  return {
    ofTeam: (team, allocated) => text(cost(team, allocated)),
    allocated: text(all("all", 0)),
    notAllocated:
      analysis.snapshot.coverage.objects && unallocatedPerHour !== null && unallocatedPerHour > 0
        ? `+ ${money(unallocatedPerHour, currency)} not allocated`
        : null,
  };
}

/** Where a price comes from, in words. */
export const priceSourceNames: Readonly<Record<PriceSource, string>> = {
  file: "your file",
  opencost: "OpenCost",
  table: "Fairlead's table",
  "table-other-region": "Fairlead's table, price of another region",
};

/** Where prices come from, of when they are, and what they stand for; nothing where nothing has a price. */
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
