import { freeShare, isSchedulable, serves } from "../cluster/placement.ts";
import type { Workload, World } from "../cluster/world.ts";

/** The number of GPUs that pods of this workload could have on usable nodes as they are, no matter how they are distributed. */
export function freeGpusFor(world: World, workload: Workload): number {
  const { spec } = workload;
  let free = 0;
  for (const node of world.nodes) {
    if (!isSchedulable(node) || !serves(node, workload)) continue;
    for (const physicalGpu of node.physicalGpus) {
      const model = node.spec.physicalGpus[physicalGpu.index];
      if (model === undefined || (spec.models.length > 0 && !spec.models.includes(model))) continue;
      const freeCapacity = freeShare(physicalGpu);
      if (spec.request.kind !== "physicalGpus" || freeCapacity === 1) free += freeCapacity;
    }
  }
  return free;
}
