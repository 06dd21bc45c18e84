import type { FlavorQuota, KueueSpec } from "./spec.ts";

/** A ClusterQueue or Cohort with its GPUs of one flavor (Kueue's resource node). */
export interface ResourceNode {
  readonly name: string;
  readonly weight: number;
  readonly parent: ResourceNode | null;
  readonly children: ResourceNode[];
  /** Its own quota, and that of the whole subtree as far as it is lent. */
  readonly own: FlavorQuota;
  subtree: number;
  usage: number;
}

const nothing = (flavor: string): FlavorQuota => ({ flavor, nominal: 0, borrowingLimit: null, lendingLimit: null });

/** The tree of one flavor with the usage of each ClusterQueue: nodes by `queue/NAME` and `cohort/NAME`. */
export function kueueTree(
  spec: KueueSpec,
  flavor: string,
  used: ReadonlyMap<string, number>,
): ReadonlyMap<string, ResourceNode> {
  const nodes = new Map<string, ResourceNode>();
  const quotaOf = (quotas: readonly FlavorQuota[]) => quotas.find((each) => each.flavor === flavor) ?? nothing(flavor);
  const add = (
    key: string,
    name: string,
    parent: ResourceNode | null,
    weight: number,
    own: FlavorQuota,
  ): ResourceNode => {
    const node = { name, weight, parent, children: [], own, subtree: 0, usage: 0 };
    parent?.children.push(node);
    nodes.set(key, node);
    return node;
  };
  const cohort = (name: string): ResourceNode => {
    const known = nodes.get(`cohort/${name}`);
    if (known !== undefined) return known;
    const object = spec.cohorts.find((each) => each.name === name);
    const parent = object?.parent === undefined || object.parent === null ? null : cohort(object.parent);
    return add(`cohort/${name}`, name, parent, object?.weight ?? 1, quotaOf(object?.quotas ?? []));
  };
  for (const queue of spec.clusterQueues) {
    const parent = queue.cohort === null ? null : cohort(queue.cohort);
    add(`queue/${queue.name}`, queue.name, parent, queue.weight, quotaOf(queue.quotas));
  }
  for (const node of nodes.values()) if (node.parent === null) fill(node, used);
  return nodes;
}

function fill(node: ResourceNode, used: ReadonlyMap<string, number>): void {
  node.subtree = node.own.nominal;
  node.usage = node.children.length === 0 ? (used.get(node.name) ?? 0) : 0;
  for (const child of node.children) {
    fill(child, used);
    node.subtree += child.subtree - localQuota(child);
    node.usage += Math.max(0, child.usage - localQuota(child));
  }
}

/** The quota that a node lends to nobody. */
function localQuota({ subtree, own }: ResourceNode): number {
  return own.lendingLimit === null ? 0 : Math.max(0, subtree - own.lendingLimit);
}

/** What a node could still take: its own quota and what it may borrow. */
export function available(node: ResourceNode): number {
  if (node.parent === null) return node.subtree - node.usage;
  const local = localQuota(node);
  const own = Math.max(0, local - node.usage);
  const lent = node.subtree - local - Math.max(0, node.usage - local);
  const limit = node.own.borrowingLimit ?? Number.POSITIVE_INFINITY;
  return own + Math.min(available(node.parent), lent + limit);
}

export function borrowed(node: ResourceNode): number {
  return Math.max(0, node.usage - node.subtree);
}

/** The weighted share of a node: 1000 x borrowed / lendable / weight; 0 for a node without a cohort. */
export function weightedShare(node: ResourceNode): number {
  const lendable = node.parent === null ? 0 : potential(node.parent);
  if (lendable <= 0 || borrowed(node) === 0) return 0;
  return node.weight === 0 ? Number.POSITIVE_INFINITY : (1000 * borrowed(node)) / lendable / node.weight;
}

function potential(node: ResourceNode): number {
  if (node.parent === null) return node.subtree;
  const limit = node.own.borrowingLimit ?? Number.POSITIVE_INFINITY;
  return Math.min(localQuota(node) + potential(node.parent), node.subtree + limit);
}
