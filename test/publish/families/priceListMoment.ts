import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { NodePrice, PriceGroup } from "../../../exporter/analysis/prices/prices.ts";
import { at, smallMoment } from "../moment.ts";

const day = 86_400;

/** A price of the table, of 124 days ago: 55.04 an hour for a node of eight. */
export function nodePrice(values: Partial<NodePrice> = {}): NodePrice {
  return {
    perGpuHour: 6.88,
    perNodeHour: 55.04,
    currency: "USD",
    basis: "whole-instance",
    source: "table",
    capacityType: "on-demand",
    date: at - 124 * day,
    isStale: true,
    origin: "a list",
    ...values,
  };
}

export function priceGroup(values: Partial<PriceGroup> = {}): PriceGroup {
  const price = values.price === undefined ? nodePrice() : values.price;
  return {
    pool: "H100",
    nodePool: "train",
    instanceType: "p5.48xlarge",
    capacityType: "on-demand",
    nodes: 2,
    physicalGpus: 16,
    unpriced: price === null ? "no-price" : null,
    ...values,
    price,
  };
}

/**
 * `smallMoment` with prices: of H100, 16 GPUs at 6.88 by the table and 8 at 5.16 by the file, 8 on spot nodes without a price,
 * and 8 at 4 in another currency; of L4, 4 without any.
 */
export const pricedMoment: Analysis = {
  ...smallMoment,
  prices: {
    byNode: new Map([["h100-01", nodePrice()]]),
    groups: [
      priceGroup(),
      priceGroup({
        nodes: 1,
        physicalGpus: 8,
        price: nodePrice({ perGpuHour: 5.16, perNodeHour: 41.28, source: "file", date: at - 10 * day, isStale: false }),
      }),
      priceGroup({
        nodes: 1,
        physicalGpus: 8,
        price: nodePrice({ perGpuHour: 4, perNodeHour: 32, currency: "EUR", source: "file", isStale: false }),
      }),
      priceGroup({
        capacityType: "spot",
        nodes: 1,
        physicalGpus: 8,
        price: null,
        unpriced: "no-price-for-capacity-type",
      }),
      priceGroup({ pool: "L4", nodePool: "", instanceType: null, capacityType: null, physicalGpus: 4, price: null }),
    ],
  },
};
