import type { Flavor } from "./kueueFlavors.ts";
import type { KueueNode } from "./kueueTree.ts";
import { keptBy, quotaKey } from "./nodeQuotas.ts";
import type { DeclaredQueue, PoolFacts } from "./queueSystem.ts";
import { isGpuResource, unitIn } from "./resourceGpus.ts";

/** A flavor's resource that counts as GPUs. */
export interface GpuUnit {
  readonly flavor: Flavor;
  /** Physical GPUs per unit of it on the flavor's nodes; `null` where they do not agree. */
  readonly gpus: number | null;
}

/** The GPU resources of existing flavors for which there are quotas, by `quotaKey`. */
export function gpuUnits(
  nodes: readonly KueueNode[],
  flavors: ReadonlyMap<string, Flavor>,
  pools: readonly PoolFacts[],
): ReadonlyMap<string, GpuUnit> {
  const units = new Map<string, GpuUnit>();
  for (const { clusterQueue, cohort } of nodes)
    for (const quota of (clusterQueue ?? cohort)?.quotas ?? []) {
      const key = quotaKey(quota);
      const flavor = units.has(key) ? undefined : flavors.get(quota.flavor);
      if (flavor === undefined || !isGpuResource(quota.resource, pools)) continue;
      units.set(key, { flavor, gpus: unitIn(flavor.pools, quota.resource) });
    }
  return units;
}

/** The GPU resources that belong to flavors of one domain. */
export function unitsIn(
  units: ReadonlyMap<string, GpuUnit>,
  isInDomain: (flavor: string) => boolean,
): ReadonlyMap<string, GpuUnit> {
  return new Map([...units].filter(([, { flavor }]) => isInDomain(flavor.object.name)));
}

/**
 * What a node may hold in the flavors of one domain (`units`), in physical GPUs, `null` where a unit is not known; `null` in all where the
 * node has no quota there. What it can hold at most is its borrowing limit above its quota; a root neither borrows nor lends.
 */
export function quotaIn(
  { quotas, parent }: KueueNode,
  units: ReadonlyMap<string, GpuUnit>,
): Pick<DeclaredQueue, "guaranteed" | "limit" | "lendingLimit"> | null {
  const isRoot = parent === null;
  let isThere = false;
  let [guaranteed, limit, lent] = [0, 0, 0];
  for (const [key, unit] of units) {
    const quota = quotas.get(key);
    if (quota === undefined) continue;
    if (unit.gpus === null) return { guaranteed: null, limit: null, lendingLimit: Number.POSITIVE_INFINITY };
    isThere = true;
    const total = quota.total * unit.gpus;
    const borrowing = quota.own?.borrowingLimit ?? null;
    guaranteed += total;
    lent += (quota.subtree - keptBy(quota)) * unit.gpus;
    limit += isRoot ? total : borrowing === null ? Number.POSITIVE_INFINITY : total + borrowing * unit.gpus;
  }
  if (!isThere) return null;
  return { guaranteed, limit, lendingLimit: !isRoot && lent < guaranteed ? lent : Number.POSITIVE_INFINITY };
}
