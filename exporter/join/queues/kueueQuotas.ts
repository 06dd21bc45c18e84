import type { GpuQuota } from "./kueueFlavors.ts";
import type { KueueNode } from "./kueueTree.ts";
import type { DeclaredQueue } from "./queueSystem.ts";

/** What a node of Kueue's tree may hold of one domain, in physical GPUs; `null` where a unit is not known. */
export type NodeQuota = Pick<DeclaredQueue, "guaranteed" | "limit" | "lendingLimit">;

interface FlavorQuota {
  /** Nominal quota of the subtree in all. */
  total: number;
  /** Kueue's subtree quota: without what lending limits of children keep back. */
  subtree: number;
  /** Of its own entry: how far beyond its quota it may go, and how much it lends; `null`: no entry, or no limit. */
  borrowing: number | null;
  lending: number | null;
}

/**
 * Quotas of all nodes in the flavors of one domain; `gpuQuotas`: those of each node. Per flavor and resource, from the leaves up, as in Kueue
 * (pkg/cache/scheduler/resource_node.go): subtree = own nominal + sum over children of (subtree - local), where
 * local = max(0, subtree - lendingLimit) stays with the child. What a node can hold at most is borrowing limit above that and
 * what is kept below; a root neither borrows nor lends.
 */
export function quotasIn(
  nodes: readonly KueueNode[],
  gpuQuotas: readonly (readonly GpuQuota[])[],
  isInDomain: (flavor: string) => boolean,
): readonly (NodeQuota | null)[] {
  const byNode = gpuQuotas.map((quotas) => ownQuotas(quotas, isInDomain));
  for (let i = nodes.length - 1; i >= 0; i--) {
    const parent = nodes[i]?.parent ?? null;
    const quotas = byNode[i];
    const above = parent === null ? undefined : byNode[parent];
    if (quotas === undefined || above === undefined) continue;
    if (quotas.isUnknown) above.isUnknown = true;
    above.isThere ||= quotas.isThere;
    for (const [key, quota] of quotas.flavors) {
      let known = above.flavors.get(key);
      if (known === undefined) {
        known = { total: 0, subtree: 0, borrowing: null, lending: null };
        above.flavors.set(key, known);
      }
      known.total += quota.total;
      known.subtree += quota.subtree - localOf(quota);
    }
  }
  return byNode.map((quotas, i) => (quotas.isThere ? sumOf(quotas, nodes[i]?.parent === null) : null));
}

const localOf = ({ subtree, lending }: FlavorQuota): number => (lending === null ? 0 : Math.max(0, subtree - lending));

interface NodeQuotas {
  readonly flavors: Map<string, FlavorQuota>;
  isUnknown: boolean;
  isThere: boolean;
}

function ownQuotas(quotas: readonly GpuQuota[], isInDomain: (flavor: string) => boolean): NodeQuotas {
  const own: NodeQuotas = { flavors: new Map(), isUnknown: false, isThere: false };
  for (const { quota, unit } of quotas) {
    if (!isInDomain(quota.flavor)) continue;
    own.isThere = true;
    if (unit === null) {
      own.isUnknown = true;
      continue;
    }
    const nominal = quota.nominal * unit;
    own.flavors.set(`${quota.flavor}/${quota.resource}`, {
      total: nominal,
      subtree: nominal,
      borrowing: quota.borrowingLimit === null ? null : quota.borrowingLimit * unit,
      lending: quota.lendingLimit === null ? null : quota.lendingLimit * unit,
    });
  }
  return own;
}

function sumOf({ flavors, isUnknown }: NodeQuotas, isRoot: boolean): NodeQuota {
  if (isUnknown) return { guaranteed: null, limit: null, lendingLimit: Number.POSITIVE_INFINITY };
  let [guaranteed, limit, lent] = [0, 0, 0];
  for (const quota of flavors.values()) {
    guaranteed += quota.total;
    lent += quota.subtree - localOf(quota);
    limit += isRoot ? quota.total : quota.borrowing === null ? Number.POSITIVE_INFINITY : quota.total + quota.borrowing;
  }
  return { guaranteed, limit, lendingLimit: !isRoot && lent < guaranteed ? lent : Number.POSITIVE_INFINITY };
}
