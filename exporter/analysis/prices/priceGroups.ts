import type { Device, NodeView } from "../../join/snapshot.ts";
import { compareText } from "../../kernel/compareText.ts";
import { sameData } from "../../kernel/sameData.ts";
import type { PricedKind } from "./priceNodes.ts";
import type { PriceGroup } from "./prices.ts";

/** A group while it is counted. */
type GroupDraft = { -readonly [Field in keyof PriceGroup]: PriceGroup[Field] };

/**
 * Nodes that are paid for alike, with their sums, sorted. The GPUs of a node with several models belong to several pools; the
 * node itself is counted in the pool that has most of them.
 */
export function collectGroups(
  kinds: readonly PricedKind[],
  devicesOf: (node: NodeView) => readonly Device[],
): readonly PriceGroup[] {
  const groups: GroupDraft[] = [];
  for (const kind of kinds) {
    const { like, nodes } = kind;
    const gpus = like.physicalGpus ?? 0;
    if (like.pools.length <= 1) {
      add(groups, kind, like.pools[0] ?? like.gpuModels[0] ?? "unknown", nodes.length, nodes.length * gpus);
      continue;
    }
    for (const node of nodes) {
      const parts = gpusByPool(node, gpus, devicesOf(node));
      parts.forEach(([pool, part], index) => {
        add(groups, kind, pool, index === 0 ? 1 : 0, part);
      });
    }
  }
  return groups.sort(byPlace);
}

function add(groups: GroupDraft[], { like, price, unpriced }: PricedKind, pool: string, nodes: number, gpus: number) {
  const known = groups.find(
    (group) =>
      group.pool === pool &&
      group.nodePool === like.nodePool &&
      group.instanceType === like.instanceType &&
      group.capacityType === like.capacityType &&
      group.unpriced === unpriced &&
      sameData(group.price, price),
  );
  if (known !== undefined) {
    known.nodes += nodes;
    known.physicalGpus += gpus;
    return;
  }
  const { nodePool, instanceType, capacityType } = like;
  groups.push({ pool, nodePool, instanceType, capacityType, nodes, physicalGpus: gpus, price, unpriced });
}

/** Physical GPUs of a node by pool, the most first; GPUs without a device count for the first pool. */
function gpusByPool(node: NodeView, gpus: number, devices: readonly Device[]): readonly (readonly [string, number])[] {
  const weights = new Map(node.pools.map((pool) => [pool, 0]));
  for (const { pool, weight } of devices) weights.set(pool, (weights.get(pool) ?? 0) + weight);
  const parts = [...weights].sort(([a, x], [b, y]) => y - x || compareText(a, b));
  const rest = gpus - parts.reduce((sum, [, weight]) => sum + weight, 0);
  return parts.map(([pool, weight], index) => [pool, index === 0 ? Math.max(0, weight + rest) : weight] as const);
}

function byPlace(a: PriceGroup, b: PriceGroup): number {
  return (
    compareText(a.pool, b.pool) ||
    compareText(a.nodePool, b.nodePool) ||
    compareText(a.instanceType ?? "", b.instanceType ?? "") ||
    compareText(a.capacityType ?? "", b.capacityType ?? "") ||
    (a.price?.perGpuHour ?? -1) - (b.price?.perGpuHour ?? -1) ||
    compareText(a.price?.origin ?? "", b.price?.origin ?? "") ||
    (a.price?.date ?? 0) - (b.price?.date ?? 0)
  );
}
