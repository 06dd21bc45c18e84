import type { KueueForest, KueueNode } from "../../join/queues/kueueTree.ts";
import type { KueueQuota, KueueWorkload } from "../../model/queues/kueue.ts";

/** Amounts by flavor and resource. */
export type FlavorAmounts = Map<string, number>;

/** The key of a flavor's resource in `FlavorAmounts`. */
function flavorResource(flavor: string, resource: string): string {
  return `${flavor}\n${resource}`;
}

/** The resource in such a key. */
export function resourceIn(key: string): string {
  return key.slice(key.indexOf("\n") + 1);
}

/** What a ClusterQueue or Cohort has, as Kueue itself counts it (pkg/cache/scheduler/resource_node.go, v0.19). */
export interface NodeAmounts {
  readonly quotas: ReadonlyMap<string, KueueQuota>;
  /** Own quota, and what children lend. */
  readonly subtree: FlavorAmounts;
  /** Of a cohort: what its children use beyond what they keep for themselves. */
  readonly usage: FlavorAmounts;
}

/** Reserved amounts by ClusterQueue: usage of admissions, less the pods whose quota is free again. */
export function reservedByQueue(workloads: readonly KueueWorkload[]): ReadonlyMap<string, FlavorAmounts> {
  const byQueue = new Map<string, FlavorAmounts>();
  for (const { admission, conditions, reclaimable } of workloads) {
    if (admission === null || conditions.some(({ type, isTrue }) => type === "Finished" && isTrue)) continue;
    const amounts = byQueue.get(admission.clusterQueue) ?? new Map<string, number>();
    byQueue.set(admission.clusterQueue, amounts);
    for (const { podSet, count, flavors, usage } of admission.assignments) {
      const freed = reclaimable.find((entry) => entry.podSet === podSet)?.count ?? 0;
      const part = count > 0 ? Math.max(0, count - freed) / count : 1;
      for (const [resource, amount] of Object.entries(usage)) {
        const flavor = flavors[resource];
        if (flavor !== undefined) add(amounts, flavorResource(flavor, resource), amount * part);
      }
    }
  }
  return byQueue;
}

/** What each node has, parallel to `KueueForest.nodes`. */
export function nodeAmounts(
  { nodes }: KueueForest,
  reserved: ReadonlyMap<string, FlavorAmounts>,
): readonly NodeAmounts[] {
  const amounts = nodes.map(({ name, clusterQueue, cohort }): NodeAmounts => {
    const { quotas = [] } = clusterQueue ?? cohort ?? {};
    return {
      quotas: new Map(quotas.map((quota) => [flavorResource(quota.flavor, quota.resource), quota] as const)),
      subtree: new Map(quotas.map(({ flavor, resource, nominal }) => [flavorResource(flavor, resource), nominal])),
      usage: new Map(clusterQueue === null ? [] : reserved.get(name)),
    };
  });
  // Children come behind their parents, and are complete when these add them up.
  for (let i = nodes.length - 1; i >= 0; i--) {
    const [own, above] = [amounts[i], amounts[nodes[i]?.parent ?? -1]];
    if (own === undefined || above === undefined) continue;
    for (const [key, amount] of own.subtree) add(above.subtree, key, amount - localQuota(own, key));
    for (const [key, amount] of own.usage) add(above.usage, key, Math.max(0, amount - localQuota(own, key)));
  }
  return amounts;
}

/** What a node never lends. */
function localQuota({ quotas, subtree }: NodeAmounts, key: string): number {
  const limit = quotas.get(key)?.lendingLimit ?? null;
  return limit === null ? 0 : Math.max(0, (subtree.get(key) ?? 0) - limit);
}

/**
 * The most that a node (by index) could have with nothing in use, of all that its tree has quota for: `potentialAvailable` of
 * Kueue. Nodes on the way to the root are remembered.
 */
export function createPotentials(
  nodes: readonly KueueNode[],
  amounts: readonly NodeAmounts[],
): (node: number) => FlavorAmounts {
  const known = new Map<number, FlavorAmounts>();
  return (wanted) => {
    const path: number[] = [];
    for (let node: number | null = wanted; node !== null && !known.has(node); node = nodes[node]?.parent ?? null)
      path.push(node);
    for (const node of path.toReversed()) {
      const above = known.get(nodes[node]?.parent ?? -1);
      const own = amounts[node];
      if (own !== undefined) known.set(node, above === undefined ? own.subtree : potentialBelow(own, above));
    }
    return known.get(wanted) ?? new Map();
  };
}

function potentialBelow(own: NodeAmounts, above: FlavorAmounts): FlavorAmounts {
  const potentials: FlavorAmounts = new Map();
  for (const [key, ofParent] of above) {
    const limit = own.quotas.get(key)?.borrowingLimit ?? null;
    const most = limit === null ? Number.POSITIVE_INFINITY : (own.subtree.get(key) ?? 0) + limit;
    potentials.set(key, Math.min(localQuota(own, key) + ofParent, most));
  }
  return potentials;
}

function add(amounts: FlavorAmounts, key: string, amount: number): void {
  amounts.set(key, (amounts.get(key) ?? 0) + amount);
}
