import { type KueueQueueObjects, kueueNamespaces } from "../../join/queues/kueueNamespaces.ts";
import { admittedIn } from "../../join/queues/kueueReserved.ts";
import type { KueueNode } from "../../join/queues/kueueTree.ts";
import { keptBy, quotaKey } from "../../join/queues/nodeQuotas.ts";
import { innerMap } from "../../kernel/innerMap.ts";

/** Amounts of resources, by `quotaKey`. */
export type FlavorAmounts = Map<string, number>;

/** Reserved amounts by ClusterQueue: usage of admissions, minus the pods whose quota is free again. */
export function reservedByQueue(objects: KueueQueueObjects): ReadonlyMap<string, FlavorAmounts> {
  const byQueue = new Map<string, FlavorAmounts>();
  for (const { admission, reclaimable } of [...kueueNamespaces(objects).values()].flatMap(admittedIn)) {
    if (admission === null) continue;
    const amounts = innerMap(byQueue, admission.clusterQueue);
    for (const { podSet, count, flavors, usage } of admission.assignments) {
      const freed = reclaimable.find((entry) => entry.podSet === podSet)?.count ?? 0;
      const part = count > 0 ? Math.max(0, count - freed) / count : 1;
      for (const [resource, amount] of Object.entries(usage)) {
        const flavor = flavors[resource];
        if (flavor !== undefined) add(amounts, quotaKey({ flavor, resource }), amount * part);
      }
    }
  }
  return byQueue;
}

/**
 * What each node uses, parallel to `KueueForest.nodes`; for a cohort, what its children use beyond what they keep for
 * themselves (Kueue v0.19, pkg/cache/scheduler/resource_node.go).
 */
export function usageOf(
  nodes: readonly KueueNode[],
  reserved: ReadonlyMap<string, FlavorAmounts>,
): readonly FlavorAmounts[] {
  const usage = nodes.map(({ name, clusterQueue }) => new Map(clusterQueue === null ? [] : reserved.get(name)));
  // Children come after their parents, and are complete when they are added to them.
  for (let i = nodes.length - 1; i >= 0; i--) {
    const [node, own] = [nodes[i], usage[i]];
    const above = usage[node?.parent ?? -1];
    if (node === undefined || own === undefined || above === undefined) continue;
    for (const [key, amount] of own) add(above, key, Math.max(0, amount - keptOf(node, key)));
  }
  return usage;
}

function keptOf({ quotas }: KueueNode, key: string): number {
  const quota = quotas.get(key);
  return quota === undefined ? 0 : keptBy(quota);
}

/**
 * Returns the most that a node (by index) could have if nothing were in use, out of all that its tree has quota for: Kueue's
 * `potentialAvailable`. Nodes on the way to the root are remembered.
 */
export function createPotentials(nodes: readonly KueueNode[]): (node: number) => FlavorAmounts {
  const known = new Map<number, FlavorAmounts>();
  return (wanted) => {
    const path: number[] = [];
    for (let node: number | null = wanted; node !== null && !known.has(node); node = nodes[node]?.parent ?? null)
      path.push(node);
    for (const index of path.toReversed()) {
      const node = nodes[index];
      if (node !== undefined) known.set(index, potentialOf(node, known.get(node.parent ?? -1)));
    }
    return known.get(wanted) ?? new Map();
  };
}

/** `above` is the result for the parent; absent for a root, which could have all of its quota. */
function potentialOf(node: KueueNode, above: FlavorAmounts | undefined): FlavorAmounts {
  const potentials: FlavorAmounts = new Map();
  if (above === undefined) {
    for (const [key, { subtree }] of node.quotas) potentials.set(key, subtree);
    return potentials;
  }
  for (const [key, ofParent] of above) {
    const quota = node.quotas.get(key);
    const limit = quota?.own?.borrowingLimit ?? null;
    const most = limit === null ? Number.POSITIVE_INFINITY : (quota?.subtree ?? 0) + limit;
    potentials.set(key, Math.min(keptOf(node, key) + ofParent, most));
  }
  return potentials;
}

function add(amounts: FlavorAmounts, key: string, amount: number): void {
  amounts.set(key, (amounts.get(key) ?? 0) + amount);
}
