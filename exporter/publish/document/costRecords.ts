import type { Analysis } from "../../analysis/analysis.ts";
import type { NodePrice } from "../../analysis/prices/prices.ts";
import type { HolderCost } from "../../analysis/sums/costSums.ts";
import { mainCurrency } from "./priceRecords.ts";
import type { CostRecord } from "./schema.ts";

/** What someone's GPUs cost per hour, in the currency in which most GPUs of the cluster have a price. */
export interface OwnCost {
  /** `null` where none of them has a price. */
  readonly costPerHour: number | null;
  /** GPUs that are not in it: without a price, or with one in another currency. */
  readonly unpricedGpus: number;
}

/** Says what each owner's GPUs cost; `allocated` is what the owner holds in all. */
export function ownCosts<Key>(
  { prices }: Analysis,
  holders: readonly HolderCost[],
  ownerOf: (holder: HolderCost) => Key,
): (owner: Key, allocated: number) => OwnCost {
  const currency = mainCurrency(prices.groups);
  const sums = new Map<Key, { cost: number; pricedGpus: number; unpricedGpus: number }>();
  for (const holder of holders) {
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
export function costRecord({ accountingEntries, prices }: Analysis): CostRecord {
  const sums = new Map<string, { allocatedPerHour: number; unallocatedPerHour: number }>();
  let unpricedGpus = 0;
  let node: string | null = null;
  let price: NodePrice | undefined;
  for (const accountingEntry of accountingEntries) {
    // Neighbouring accounting entries are mostly of one node.
    if (accountingEntry.node !== node) {
      node = accountingEntry.node;
      price = prices.byNode.get(node);
    }
    if (price === undefined) {
      unpricedGpus += accountingEntry.gpus;
      continue;
    }
    let sum = sums.get(price.currency);
    if (sum === undefined) {
      sum = { allocatedPerHour: 0, unallocatedPerHour: 0 };
      sums.set(price.currency, sum);
    }
    const cost = accountingEntry.gpus * price.perGpuHour;
    if (accountingEntry.pod === null) sum.unallocatedPerHour += cost;
    else sum.allocatedPerHour += cost;
  }
  const byCurrency = [...sums]
    .map(([currency, { allocatedPerHour, unallocatedPerHour }]) => ({
      currency,
      perHour: allocatedPerHour + unallocatedPerHour,
      allocatedPerHour,
      unallocatedPerHour,
    }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));
  const currency = mainCurrency(prices.groups);
  const main = byCurrency.find((cost) => cost.currency === currency);
  const nothing = { currency: null, perHour: null, allocatedPerHour: null, unallocatedPerHour: null };
  return { ...(main ?? nothing), unpricedGpus, byCurrency };
}
