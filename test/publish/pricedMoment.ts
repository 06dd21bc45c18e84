import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { NodePrice, PriceGroup } from "../../exporter/analysis/prices/prices.ts";
import { at, smallMoment } from "./moment.ts";

/** A price of 2 USD for a GPU-hour, from the user's file, where nothing else is said. */
export function nodePrice(values: Partial<NodePrice> = {}): NodePrice {
  return {
    perGpuHour: 2,
    perNodeHour: 4,
    currency: "USD",
    basis: "whole-instance",
    source: "file",
    capacityType: "on-demand",
    date: at - 86_400,
    isStale: false,
    origin: "contract 7",
    ...values,
  };
}

/** The moment with these prices of its nodes, by name. */
export function withPrices(moment: Analysis, prices: Readonly<Record<string, NodePrice>>): Analysis {
  const byNode = new Map(Object.entries(prices));
  const groups = moment.snapshot.nodes.map((node): PriceGroup => {
    const price = byNode.get(node.name) ?? null;
    return {
      pool: node.pools[0] ?? "",
      nodePool: node.nodePool,
      instanceType: node.instanceType,
      capacityType: node.capacityType,
      nodes: 1,
      physicalGpus: node.physicalGpus ?? 0,
      price,
      unpriced: price === null ? "no-price" : null,
    };
  });
  return { ...moment, prices: { byNode, groups } };
}

/** The small moment (h100-01: 1 GPU of ads, 1 free; l4-01: half of one held), where only h100-01 has a price. */
export const pricedMoment = withPrices(smallMoment, { "h100-01": nodePrice() });
