import type { KueueQuota, KueueWorkload } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";

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

/** A ClusterQueue or Cohort as Kueue itself counts it (pkg/cache/scheduler/resource_node.go, v0.19). */
export interface KueueNode {
  readonly kind: "ClusterQueue" | "Cohort";
  readonly name: string;
  readonly weight: number;
  readonly parent: KueueNode | null;
  readonly children: KueueNode[];
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

/** All ClusterQueues and Cohorts, those that exist only by name too. A tree with a cycle is left out, as Kueue stops there. */
export function kueueNodes(objects: QueueObjects, reserved: ReadonlyMap<string, FlavorAmounts>): readonly KueueNode[] {
  const cohorts = new Map(objects.kueueCohorts.map((cohort) => [cohort.name, cohort] as const));
  const made = new Map<string, KueueNode | null>();
  // Not by recursion: somebody may write a chain of thousands.
  const cohortNode = (wanted: string): KueueNode | null => {
    const path: string[] = [];
    let name: string | null = wanted;
    while (name !== null && !made.has(name)) {
      // While it is being made, coming back to it is a cycle.
      made.set(name, null);
      path.push(name);
      name = cohorts.get(name)?.parent ?? null;
    }
    let node = name === null ? null : (made.get(name) ?? null);
    if (name !== null && node === null) return null;
    for (const one of path.toReversed()) {
      const object = cohorts.get(one);
      node = nodeOf("Cohort", one, object?.weight ?? 1, node, object?.quotas ?? []);
      made.set(one, node);
    }
    return node;
  };
  for (const name of [...cohorts.keys()].sort()) cohortNode(name);
  const queues = objects.kueueClusterQueues.flatMap((queue) => {
    const parent = queue.cohort === null ? null : cohortNode(queue.cohort);
    if (queue.cohort !== null && parent === null) return [];
    const node = nodeOf("ClusterQueue", queue.name, queue.weight, parent, queue.quotas);
    for (const [key, amount] of reserved.get(queue.name) ?? []) node.usage.set(key, amount);
    return [node];
  });
  const nodes = [...[...made.values()].filter((node) => node !== null), ...queues];
  for (const node of parentsFirst(nodes).reverse()) fill(node);
  return nodes;
}

function nodeOf(
  kind: KueueNode["kind"],
  name: string,
  weight: number,
  parent: KueueNode | null,
  quotas: readonly KueueQuota[],
): KueueNode {
  const node: KueueNode = {
    kind,
    name,
    weight,
    parent,
    children: [],
    quotas: new Map(quotas.map((quota) => [flavorResource(quota.flavor, quota.resource), quota] as const)),
    subtree: new Map(),
    usage: new Map(),
  };
  parent?.children.push(node);
  return node;
}

function parentsFirst(nodes: readonly KueueNode[]): KueueNode[] {
  const ordered = nodes.filter(({ parent }) => parent === null);
  // The list grows while it is walked.
  for (const { children } of ordered) for (const child of children) ordered.push(child);
  return ordered;
}

/** Adds a node's own quota to what its children, which are complete, lend and use. */
function fill(node: KueueNode): void {
  for (const [key, { nominal }] of node.quotas) add(node.subtree, key, nominal);
  for (const child of node.children) {
    for (const [key, amount] of child.subtree) add(node.subtree, key, amount - localQuota(child, key));
    for (const [key, amount] of child.usage) add(node.usage, key, Math.max(0, amount - localQuota(child, key)));
  }
}

/** What a node never lends. */
function localQuota(node: KueueNode, key: string): number {
  const limit = node.quotas.get(key)?.lendingLimit ?? null;
  return limit === null ? 0 : Math.max(0, (node.subtree.get(key) ?? 0) - limit);
}

/**
 * The most that a node could have with nothing in use, of all that its tree has quota for: `potentialAvailable` of Kueue.
 * Nodes on the way to the root are remembered.
 */
export function createPotentials(): (node: KueueNode) => FlavorAmounts {
  const known = new Map<KueueNode, FlavorAmounts>();
  return (wanted) => {
    const path: KueueNode[] = [];
    for (let node: KueueNode | null = wanted; node !== null && !known.has(node); node = node.parent) path.push(node);
    for (const node of path.toReversed()) {
      const above = node.parent === null ? undefined : known.get(node.parent);
      known.set(node, above === undefined ? node.subtree : potentialBelow(node, above));
    }
    return known.get(wanted) ?? wanted.subtree;
  };
}

function potentialBelow(node: KueueNode, above: FlavorAmounts): FlavorAmounts {
  const potentials: FlavorAmounts = new Map();
  for (const [key, ofParent] of above) {
    const limit = node.quotas.get(key)?.borrowingLimit ?? null;
    const most = limit === null ? Number.POSITIVE_INFINITY : (node.subtree.get(key) ?? 0) + limit;
    potentials.set(key, Math.min(localQuota(node, key) + ofParent, most));
  }
  return potentials;
}

function add(amounts: FlavorAmounts, key: string, amount: number): void {
  amounts.set(key, (amounts.get(key) ?? 0) + amount);
}
