import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { ResourceAmounts } from "../../model/node.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import type { PoolFacts } from "./queueSystem.ts";

/** Whether a resource counts as GPUs: by its name, or because a node offers it as such. */
export function isGpuResource(resource: string, pools: readonly PoolFacts[]): boolean {
  return gpuLikeResource(resource) || pools.some((pool) => pool.gpusPerUnit(resource) !== undefined);
}

/**
 * Physical GPUs of one unit of a resource, if all of the pools that offer it agree; `null` if they do not, or if it cannot be
 * known. A resource that no pool offers is 0, except `nvidia.com/gpu`: nodes offer none while their driver is not ready, and
 * it is one GPU on all others.
 */
export function unitIn(pools: readonly PoolFacts[], resource: string): number | null {
  let agreed: number | undefined;
  for (const { gpusPerUnit } of pools) {
    const unit = gpusPerUnit(resource);
    if (unit === undefined) continue;
    if (unit === null || (agreed !== undefined && agreed !== unit)) return null;
    agreed = unit;
  }
  return agreed ?? (resource === gpuResources.nvidia ? 1 : 0);
}

/** Physical GPUs of amounts of resources, all of them of the same pools; `null` where a unit of them is not known. */
export function gpusOf(amounts: ResourceAmounts, pools: readonly PoolFacts[]): number | null {
  let gpus = 0;
  for (const resource of Object.keys(amounts)) {
    const amount = amounts[resource] ?? 0;
    if (amount === 0 || resource === "cpu" || resource === "memory" || !isGpuResource(resource, pools)) continue;
    const unit = unitIn(pools, resource);
    if (unit === null) return null;
    gpus += amount * unit;
  }
  return gpus;
}
