import { bareRecord } from "../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import type { PoolFacts } from "./queueSystem.ts";
import { isGpuResource, unitIn } from "./resourceGpus.ts";

/**
 * The most physical GPUs that caps by resource allow: capped resources count by their cap, others by everything that the nodes
 * offer. `Infinity` if no GPU resource is capped, or if the amount of another is unknown; `null` if a capped amount cannot be
 * converted.
 */
export function quotaLimit(caps: ResourceAmounts | null, pools: readonly PoolFacts[]): number | null {
  const capped = Object.entries(caps ?? {}).filter(([resource]) => isGpuResource(resource, pools));
  if (capped.length === 0) return Infinity;
  let limit = 0;
  for (const [resource, amount] of capped) {
    if (amount === 0) continue;
    const unit = unitIn(pools, resource);
    if (unit === null) return null;
    limit += amount * unit;
  }
  const names = new Set(capped.map(([resource]) => resource));
  for (const [resource, amount] of Object.entries(offered(pools))) {
    if (names.has(resource) || amount === 0 || !isGpuResource(resource, pools)) continue;
    const unit = unitIn(pools, resource);
    if (unit === null) return Infinity;
    limit += amount * unit;
  }
  return limit;
}

/** The amounts that all nodes of the pools offer; each node counts once. */
function offered(pools: readonly PoolFacts[]): ResourceAmounts {
  const amounts = bareRecord<number>();
  const nodes = new Map(pools.flatMap((pool) => pool.nodes.map((node) => [node.name, node] as const)));
  for (const node of nodes.values())
    for (const [resource, amount] of Object.entries(node.capacity))
      amounts[resource] = (amounts[resource] ?? 0) + amount;
  return amounts;
}
