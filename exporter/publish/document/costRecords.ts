import type { Analysis } from "../../analysis/analysis.ts";
import { costSumsOf, type HolderCost } from "../../analysis/sums/costSums.ts";
import { mainCurrency } from "./priceRecords.ts";
import type { CostRecord } from "./schema.ts";

/** What the GPUs of one owner cost per hour, in the currency in which most GPUs of the cluster have a price. */
export interface OwnCost {
  /** The cost; `null` where none of the GPUs has a price. */
  readonly costPerHour: number | null;
  /** GPUs that the cost leaves out: they have no price, or one in another currency. */
  readonly unpricedGpus: number;
}

/** Says what each owner's GPUs cost; `allocated` is what the owner holds in all. */
export function ownCosts<Key>(
  analysis: Analysis,
  ownerOf: (holder: HolderCost) => Key,
): (owner: Key, allocated: number) => OwnCost {
  const currency = mainCurrency(analysis.prices.groups);
  const sums = new Map<Key, { cost: number; pricedGpus: number; unpricedGpus: number }>();
  for (const holder of costSumsOf(analysis).holders) {
    const owner = ownerOf(holder);
    const sum = sums.get(owner) ?? { cost: 0, pricedGpus: 0, unpricedGpus: 0 };
    sums.set(owner, sum);
    if (holder.currency !== currency) sum.unpricedGpus += holder.gpus;
    else {
      sum.cost += holder.cost;
      sum.pricedGpus += holder.gpus;
    }
  }
  return (owner, allocated) => {
    if (currency === null) return { costPerHour: null, unpricedGpus: allocated };
    const sum = sums.get(owner);
    if (sum === undefined) return { costPerHour: 0, unpricedGpus: 0 };
    return { costPerHour: sum.pricedGpus > 0 ? sum.cost : null, unpricedGpus: sum.unpricedGpus };
  };
}

/** What the whole cluster's GPUs cost per hour. */
export function costRecord(analysis: Analysis): CostRecord {
  const { accountingEntries, prices } = analysis;
  const { groups, holders } = costSumsOf(analysis);
  const byCurrency = [...new Set(groups.map(({ currency }) => currency))].sort().map((currency) => {
    const allocatedPerHour = holders.reduce((sum, one) => sum + (one.currency === currency ? one.cost : 0), 0);
    const unallocatedPerHour = groups.reduce((sum, one) => sum + (one.currency === currency ? one.unallocated : 0), 0);
    return { currency, perHour: allocatedPerHour + unallocatedPerHour, allocatedPerHour, unallocatedPerHour };
  });
  const currency = mainCurrency(prices.groups);
  const main = byCurrency.find((cost) => cost.currency === currency);
  const nothing = { currency: null, perHour: null, allocatedPerHour: null, unallocatedPerHour: null };
  const unpricedGpus = accountingEntries.list.reduce(
    (sum, { node, gpus }) => sum + (prices.byNode.has(node) ? 0 : gpus),
    0,
  );
  return { ...(main ?? nothing), unpricedGpus, byCurrency };
}
