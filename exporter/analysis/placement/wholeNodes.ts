import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PoolFreeCapacity } from "../freeCapacity/freeCapacities.ts";
import type { PoolPlacement } from "./poolPlacement.ts";

/**
 * Nodes whose GPUs are all free, and the most there could be: what is allocated on whole GPUs is moved together, onto nodes
 * with most GPUs. With F free GPUs these are the nodes with fewest GPUs, as many as have at most F together; floor(F / cap) of
 * nodes with `cap` GPUs each. Nodes with replicas or MIG instances count as they are: what they hold cannot be moved to any
 * GPU. An upper bound: neither CPU, memory nor rules are looked at, and a pod may be divided.
 */
export function wholeNodes(
  freeCapacities: readonly PoolFreeCapacity[],
): Pick<PoolPlacement, "wholeFreeNodes" | "possibleWholeFreeNodes"> {
  let [whole, asTheyAre, free] = [0, 0, 0];
  const sizes: number[] = [];
  for (const { now, wholeGpus, hasOnlyWholeGpus, isWhollyFree } of freeCapacities) {
    if (isWhollyFree) whole += 1;
    if (hasOnlyWholeGpus) sizes.push(wholeGpus);
    else if (isWhollyFree) {
      asTheyAre += 1;
      continue;
    }
    for (const physicalGpu of now?.physicalGpus ?? []) free += physicalGpu;
  }
  sizes.sort((a, b) => a - b);
  let possible = asTheyAre;
  let left = free + gpuTolerance;
  for (const size of sizes) {
    left -= size;
    if (left < 0) break;
    possible += 1;
  }
  return { wholeFreeNodes: whole, possibleWholeFreeNodes: possible };
}
