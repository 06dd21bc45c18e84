import { type GangSize, gangSizes } from "../../model/topology.ts";
import type { FreeCapacities, PoolFreeCapacity } from "../freeCapacity/freeCapacities.ts";
import { type GangPod, type NodePods, podsOnNode } from "./nodeCapacity.ts";

/** What a typical pod of a pool with this many whole GPUs asks for besides. */
export type RequestOf = (pool: string, gpus: number) => Pick<GangPod, "cpuMilli" | "memoryBytes">;

/** A gang of one size as pods that are alike. */
export interface PoolGang {
  readonly gpus: GangSize;
  readonly gpusPerPod: number;
  readonly pods: number;
  /** Its place among the kinds of pods for which nodes are counted. */
  readonly kind: number;
}

/** A node of a pool, and how many pods of each kind it takes. */
export interface PoolNode {
  /** Its place among the nodes of the moment. */
  readonly index: number;
  readonly freeCapacity: PoolFreeCapacity;
  readonly pods: readonly NodePods[];
}

/** The nodes of a pool, counted for gangs. */
export interface GangPool {
  readonly pool: string;
  readonly gpusPerNode: number;
  /** For each of `gangSizes`. */
  readonly gangs: readonly PoolGang[];
  readonly nodes: readonly PoolNode[];
}

/**
 * The pools with whole GPUs, ordered by name. A gang of G GPUs is as many pods as it takes that each ask for the GPUs of a whole
 * node, or for G where a node has more.
 */
export function gangPools({ byNode }: FreeCapacities, requestOf: RequestOf): readonly GangPool[] {
  const byPool = new Map<string, { index: number; freeCapacity: PoolFreeCapacity }[]>();
  for (let index = 0; index < byNode.length; index++) {
    for (const freeCapacity of byNode[index] ?? []) {
      const nodes = byPool.get(freeCapacity.pool);
      if (nodes === undefined) byPool.set(freeCapacity.pool, [{ index, freeCapacity }]);
      else nodes.push({ index, freeCapacity });
    }
  }
  const pools: GangPool[] = [];
  for (const [pool, nodes] of byPool) {
    const gpusPerNode = commonSize(nodes.map(({ freeCapacity }) => freeCapacity.whole.physicalGpus.length));
    if (gpusPerNode === 0) continue;
    const sizes = [...new Set(gangSizes.map((gpus) => Math.min(gpus, gpusPerNode)))];
    const kinds = sizes.map((gpus): GangPod => ({ gpus, ...requestOf(pool, gpus) }));
    pools.push({
      pool,
      gpusPerNode,
      gangs: gangSizes.map((gpus) => {
        const gpusPerPod = Math.min(gpus, gpusPerNode);
        return { gpus, gpusPerPod, pods: Math.ceil(gpus / gpusPerPod), kind: sizes.indexOf(gpusPerPod) };
      }),
      nodes: nodes.map(({ index, freeCapacity }) => ({
        index,
        freeCapacity,
        pods: kinds.map((pod) => podsOnNode(freeCapacity, pod)),
      })),
    });
  }
  return pools.sort((a, b) => (a.pool < b.pool ? -1 : 1));
}

/** The number above 0 that occurs most often, the larger one of two; 0 if there is none. */
function commonSize(sizes: readonly number[]): number {
  const times = new Map<number, number>();
  for (const size of sizes) if (size > 0) times.set(size, (times.get(size) ?? 0) + 1);
  let common = 0;
  let most = 0;
  for (const [size, count] of times) {
    if (count < most || (count === most && size < common)) continue;
    common = size;
    most = count;
  }
  return common;
}
