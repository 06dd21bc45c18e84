import type { PriceSettings } from "../../../exporter/analysis/prices/priceNodes.ts";
import type { ListedPrice, PricedNodes, PriceList } from "../../../exporter/model/prices.ts";
import { now } from "../../join/clusterBuilder.ts";

export const day = 86_400;

export const wholeInstance: PriceSettings = { basis: "whole-instance", staleDays: 60 };
export const gpuShare: PriceSettings = { basis: "gpu-share", staleDays: 60 };

/** Nodes of any kind, unless `parts` say more. */
export function pricedNodes(parts: Partial<PricedNodes> = {}): PricedNodes {
  return { instanceType: null, gpuModel: null, provider: null, region: null, nodePool: null, labels: {}, ...parts };
}

/** A price of the user's file, checked ten days ago: 10 an hour for each GPU of any node. */
export function listed(parts: Partial<ListedPrice> = {}): ListedPrice {
  return {
    source: "file",
    nodes: pricedNodes(),
    capacityType: "on-demand",
    perNodeHour: null,
    perGpuHour: parts.perNodeHour == null ? 10 : null,
    currency: "USD",
    basis: "whole-instance",
    validFrom: null,
    date: now - 10 * day,
    origin: "contract",
    ...parts,
  };
}

export function account(prices: readonly ListedPrice[], parts: Partial<PriceList> = {}): PriceList {
  return { listed: prices, quoted: new Map(), quotedCurrency: "USD", ...parts };
}
