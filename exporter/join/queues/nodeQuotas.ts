import type { KueueQuota } from "../../model/queues/kueue.ts";

/**
 * The quota of a node of Kueue's tree for one flavor's resource, in units of the resource, as Kueue itself counts it
 * (pkg/cache/scheduler/resource_node.go, v0.19): subtree = own nominal + sum over children of (subtree - kept).
 */
export interface NodeQuota {
  readonly flavor: string;
  readonly resource: string;
  /** The node's own entry; `null` where only those below it have one. */
  readonly own: KueueQuota | null;
  /** Nominal quota of the subtree in all. */
  readonly total: number;
  /** The part of it that lending limits below leave to this node. */
  readonly subtree: number;
}

/** Quotas by `quotaKey`. */
export type NodeQuotas = ReadonlyMap<string, NodeQuota>;

/** The key of a flavor's resource. */
export function quotaKey({ flavor, resource }: Pick<KueueQuota, "flavor" | "resource">): string {
  return `${flavor}\n${resource}`;
}

/** The resource in a key that `quotaKey` made. */
export function resourceIn(key: string): string {
  return key.slice(key.indexOf("\n") + 1);
}

/** What a node keeps for itself, beyond its lending limit: Kueue's local quota. */
export function keptBy({ own, subtree }: NodeQuota): number {
  const limit = own?.lendingLimit ?? null;
  return limit === null ? 0 : Math.max(0, subtree - limit);
}

/** A quota while that of the nodes below is being added. */
export type OpenNodeQuota = { -readonly [Key in keyof NodeQuota]: NodeQuota[Key] };

/** The quotas of a node while nothing below it is counted. */
export function ownQuotas(quotas: readonly KueueQuota[]): Map<string, OpenNodeQuota> {
  const found = new Map<string, OpenNodeQuota>();
  for (const own of quotas) {
    const { flavor, resource, nominal } = own;
    found.set(quotaKey(own), { flavor, resource, own, total: nominal, subtree: nominal });
  }
  return found;
}

/** Adds a complete node to its parent. */
export function addQuotas(above: Map<string, OpenNodeQuota>, below: NodeQuotas): void {
  for (const [key, quota] of below) {
    const { flavor, resource, total } = quota;
    const lent = quota.subtree - keptBy(quota);
    const known = above.get(key);
    if (known === undefined) {
      above.set(key, { flavor, resource, own: null, total, subtree: lent });
      continue;
    }
    known.total += total;
    known.subtree += lent;
  }
}
