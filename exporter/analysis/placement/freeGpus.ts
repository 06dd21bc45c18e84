import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { type PlacedSize, placedSizes } from "../../model/placedSizes.ts";
import type { PoolFreeCapacity } from "../freeCapacity/freeCapacities.ts";
import { isUsable } from "../freeCapacity/nodeFreeCapacity.ts";
import type { PoolPlacement } from "./poolPlacement.ts";
import type { CpuAndMemory, TypicalRequests } from "./typicalRequests.ts";

/** What a pool has free, by kind of GPU. */
export type FreeGpus = Pick<
  PoolPlacement,
  "freeGpus" | "sharedFreeGpus" | "partitionedFreeGpus" | "unavailableFreeGpus"
>;

/** Adds up what is free in the free capacity of a pool, and the parts of its GPUs that are not partitioned. */
export function freeGpus(freeCapacities: readonly PoolFreeCapacity[], unpartitioned: UnpartitionedGpus): FreeGpus {
  let [whole, shared, slots, unavailable] = [0, 0, 0, 0];
  for (const { now, unavailableGpus, fullyFreeGpus } of freeCapacities) {
    unavailable += unavailableGpus;
    if (now === null) continue;
    whole += fullyFreeGpus;
    // For most nodes there is nothing left to examine.
    if (now.physicalGpus.length === fullyFreeGpus && now.slots.size === 0) continue;
    let onGpus = 0;
    for (const free of now.physicalGpus) {
      onGpus += free;
      if (free <= 1 - gpuTolerance) shared += free;
    }
    if (now.slots.size > 0) slots += Math.max(0, now.gpus - onGpus);
  }
  return {
    freeGpus: whole,
    sharedFreeGpus: shared,
    partitionedFreeGpus: slots + unpartitioned.usable,
    unavailableFreeGpus: unavailable + unpartitioned.unavailable,
  };
}

/** Physical GPUs in parts of GPUs that are not a device. */
export interface UnpartitionedGpus {
  readonly usable: number;
  readonly unavailable: number;
}

/** Unpartitioned parts of GPUs, by pool. */
export function unpartitionedByPool({ nodes, unpartitioned }: Snapshot): ReadonlyMap<string, UnpartitionedGpus> {
  if (unpartitioned.length === 0) return new Map();
  const usableNodes = new Set(nodes.filter(isUsable).map(({ name }) => name));
  const byPool = new Map<string, UnpartitionedGpus>();
  for (const { pool, node, weight } of unpartitioned) {
    const { usable, unavailable } = byPool.get(pool) ?? { usable: 0, unavailable: 0 };
    const isOnUsable = usableNodes.has(node);
    byPool.set(pool, {
      usable: usable + (isOnUsable ? weight : 0),
      unavailable: unavailable + (isOnUsable ? 0 : weight),
    });
  }
  return byPool;
}

/** What could still be placed on a pool. */
export type Placeable = Pick<PoolPlacement, "largestPlaceablePod" | "placeablePods" | "shapeFragmentation">;

/**
 * Pods of each size that fit onto the free capacity of a pool, S(s) = sum over nodes of min(floor(f / s), floor(cpu / C_s),
 * floor(memory / m_s)), where f is the number of fully free GPUs of a node and C_s, m_s are the typical request of the size;
 * the largest pod; and shape fragmentation, 1 - s x S(s) / sum of f, which is 0 where less than s is free.
 */
export function placeable(freeCapacities: readonly PoolFreeCapacity[], typical: TypicalRequests): Placeable {
  const pods = { 1: 0, 2: 0, 4: 0, 8: 0 };
  const asked = placedSizes.map((size) => ({ size, request: typical.of(size) }));
  let [free, largest] = [0, 0];
  for (const freeCapacity of freeCapacities) {
    const physicalGpus = freeCapacity.fullyFreeGpus;
    if (freeCapacity.now === null || physicalGpus === 0) continue;
    free += physicalGpus;
    for (const { size, request } of asked) {
      if (size <= physicalGpus)
        pods[size] += Math.min(Math.floor(physicalGpus / size), timesIn(freeCapacity.now, request));
    }
    for (let size = physicalGpus; size > largest; size--)
      if (timesIn(freeCapacity.now, typical.of(size)) > 0) largest = size;
  }
  const fragmentation = (size: PlacedSize): number => (free < size ? 0 : 1 - (size * pods[size]) / free);
  return {
    largestPlaceablePod: largest,
    placeablePods: pods,
    shapeFragmentation: { 1: fragmentation(1), 2: fragmentation(2), 4: fragmentation(4), 8: fragmentation(8) },
  };
}

/** How often a request of CPU and memory fits into what is free of them. */
function timesIn(freeCapacity: CpuAndMemory, { cpuMilli, memoryBytes }: CpuAndMemory): number {
  let times = Number.POSITIVE_INFINITY;
  if (cpuMilli > 0) times = Math.floor(freeCapacity.cpuMilli / cpuMilli + gpuTolerance);
  if (memoryBytes > 0) times = Math.min(times, Math.floor(freeCapacity.memoryBytes / memoryBytes + gpuTolerance));
  return times;
}

/**
 * The number of nodes whose GPUs are all free, and the most there could be if what is allocated on whole GPUs were moved
 * together onto the nodes with most GPUs. With F free GPUs, the free nodes are then those with the fewest GPUs, as many as have
 * at most F together; floor(F / cap) of nodes with `cap` GPUs each. Nodes with replicas or MIG instances count as they are,
 * because what they hold cannot be moved to any GPU. This is an upper bound: CPU, memory and rules are ignored, and a pod may
 * be divided.
 */
export function wholeNodes(
  freeCapacities: readonly PoolFreeCapacity[],
): Pick<PoolPlacement, "wholeFreeNodes" | "possibleWholeFreeNodes"> {
  let [whole, asTheyAre, free] = [0, 0, 0];
  // How many nodes there are with each number of GPUs.
  const nodesOf: number[] = [];
  for (const { now, wholeGpus, hasOnlyWholeGpus, isWhollyFree } of freeCapacities) {
    if (isWhollyFree) whole += 1;
    if (hasOnlyWholeGpus) nodesOf[wholeGpus] = (nodesOf[wholeGpus] ?? 0) + 1;
    else if (isWhollyFree) {
      asTheyAre += 1;
      continue;
    }
    if (now !== null) for (const physicalGpu of now.physicalGpus) free += physicalGpu;
  }
  let possible = asTheyAre;
  let left = free + gpuTolerance;
  for (const [size, nodes = 0] of nodesOf.entries()) {
    const freed = Math.min(nodes, Math.floor(left / size));
    possible += freed;
    left -= freed * size;
    if (freed < nodes) break;
  }
  return { wholeFreeNodes: whole, possibleWholeFreeNodes: possible };
}
