import { type NodePrice, nothingPriced, type PriceGroup, type Prices } from "../../exporter/analysis/prices/prices.ts";
import type { NodeView, Snapshot } from "../../exporter/join/snapshot.ts";
import { hashText, noise } from "../../simulator/random.ts";

/** A price of a node, where nothing else is said. */
export function nodePrice(parts: Partial<NodePrice> = {}): NodePrice {
  return {
    perGpuHour: 2,
    perNodeHour: 2,
    currency: "USD",
    basis: "whole-instance",
    source: "file",
    capacityType: "on-demand",
    date: 0,
    isStale: false,
    origin: "test",
    ...parts,
  };
}

/** Prices of these nodes of a moment; the others have none. */
export function pricesOf(snapshot: Snapshot, priceOf: (node: NodeView) => NodePrice | null): Prices {
  const byNode = new Map<string, NodePrice>();
  const groups: PriceGroup[] = [];
  for (const node of snapshot.nodes) {
    if (node.physicalGpus === null) continue;
    const found = priceOf(node);
    const price = found === null ? null : { ...found, perNodeHour: found.perGpuHour * node.physicalGpus };
    if (price !== null) byNode.set(node.name, price);
    groups.push({
      pool: node.pools[0] ?? "unknown",
      nodePool: node.nodePool || "unknown",
      instanceType: node.instanceType,
      capacityType: node.capacityType,
      nodes: 1,
      physicalGpus: node.physicalGpus,
      price,
      unpriced: price === null ? "no-price" : null,
    });
  }
  return byNode.size === 0 ? nothingPriced : { byNode, groups };
}

/**
 * The prices of one cycle of a generated lifecycle: some models have none, nodes of one model have different prices in two
 * currencies, spot nodes are cheaper, and every third cycle prices change.
 */
export function generatedPrices(snapshot: Snapshot, seed: number, cycle: number): Prices {
  const epoch = Math.floor(cycle / 3);
  return pricesOf(snapshot, (node) => {
    if (noise(hashText(`model ${node.pools[0]}`, seed), 1) < 0.25) return null;
    const own = hashText(`node ${node.name}`, seed);
    const spot = node.capacityType === "spot" ? 0.4 : 1;
    const perGpuHour = Math.round((0.3 + 9 * noise(own, 10 + epoch)) * spot * 1e4) / 1e4;
    return nodePrice({ perGpuHour, currency: noise(own, 2) < 0.3 ? "EUR" : "USD" });
  });
}
