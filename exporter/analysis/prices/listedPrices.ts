import type { NodeView } from "../../join/snapshot.ts";
import { matchesPattern } from "../../kernel/namePattern.ts";
import type { CapacityType } from "../../model/capacityType.ts";
import type { ListedPrice, PriceBasis, PricedNodes } from "../../model/prices.ts";

/** The facts about a node that decide which prices apply to it. */
export type PricedNode = Pick<NodeView, "instanceType" | "gpuModels" | "provider" | "region" | "nodePool" | "labels">;

/**
 * The prices that are valid at one moment, in their order: prices that begin later are left out, and of several prices for the
 * same nodes the one that began last takes the place of the first.
 */
export function pricesInForce(listed: readonly ListedPrice[], at: number): readonly ListedPrice[] {
  if (listed.every(({ validFrom }) => validFrom === null)) return listed;
  const newest = new Map<string, ListedPrice>();
  for (const price of listed) {
    const from = price.validFrom ?? Number.NEGATIVE_INFINITY;
    if (from > at) continue;
    const key = sameNodes(price);
    const known = newest.get(key);
    if (known === undefined || from > (known.validFrom ?? Number.NEGATIVE_INFINITY)) newest.set(key, price);
  }
  return [...newest.values()];
}

function sameNodes({ source, nodes, capacityType, basis }: ListedPrice): string {
  const { instanceType, gpuModel, provider, region, nodePool, labels } = nodes;
  const byLabels = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([source, capacityType, basis, instanceType, gpuModel, provider, region, nodePool, byLabels]);
}

/**
 * The first price of a node, with the wanted basis if there is one, otherwise with the other basis: a price of one list is
 * better than one of the next list. Returns `null` if there is none.
 */
export function firstPrice(
  prices: readonly ListedPrice[],
  node: PricedNode,
  capacityType: CapacityType,
  wished: PriceBasis,
): ListedPrice | null {
  let other: ListedPrice | null = null;
  for (const price of prices) {
    if (price.capacityType !== capacityType) continue;
    if (price.basis !== wished && other !== null) continue;
    if (!isFor(price, node)) continue;
    if (price.basis === wished) return price;
    other = price;
  }
  return other;
}

/** Whether a price is for a node, regardless of the capacity type. */
export function isFor({ source, nodes }: ListedPrice, node: PricedNode): boolean {
  return (
    agrees(nodes.instanceType, node.instanceType) &&
    isProvider(source, nodes, node) &&
    agrees(nodes.region, node.region) &&
    agrees(nodes.nodePool, node.nodePool) &&
    (nodes.gpuModel === null ||
      (node.gpuModels.length > 0 && node.gpuModels.every((model) => agrees(nodes.gpuModel, model)))) &&
    Object.entries(nodes.labels).every(([label, value]) => agrees(value, ownLabel(node, label)))
  );
}

/**
 * Whether the cloud matches. Instance types are names of one cloud: a node without a known cloud is accepted, one of another is
 * not.
 */
function isProvider(source: ListedPrice["source"], nodes: PricedNodes, node: PricedNode): boolean {
  if (source === "table" && nodes.instanceType !== null && node.provider === null) return true;
  return agrees(nodes.provider, node.provider);
}

function ownLabel({ labels }: PricedNode, label: string): string | null {
  return Object.hasOwn(labels, label) ? (labels[label] ?? null) : null;
}

/** Whether a field matches: `null` asks for nothing; an unknown value matches nothing else. */
function agrees(asked: string | null, found: string | null): boolean {
  if (asked === null || asked === found) return true;
  return found !== null && asked.includes("*") && matchesPattern(asked, found);
}
