import type { Analysis } from "../../analysis/analysis.ts";
import type { NodePoolRecord } from "./schema.ts";

/** The node pools of a moment, by name. */
export function nodePoolRecords({ snapshot, idleNodes }: Analysis): readonly NodePoolRecord[] {
  const nameOf = (node: number): string => snapshot.nodes[node]?.nodePool || "unknown";
  const counted = (nodes: Iterable<number>): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>();
    for (const node of nodes) counts.set(nameOf(node), (counts.get(nameOf(node)) ?? 0) + 1);
    return counts;
  };
  const idle = idleNodes.nodes.filter(({ isWarmPool }) => !isWarmPool);
  const unallocated = counted(idle.flatMap(({ node, kind }) => (kind === "unallocated" ? [node] : [])));
  const allocated = counted(idle.flatMap(({ node, kind }) => (kind === "allocated" ? [node] : [])));
  const warm = counted(idleNodes.warm);
  return snapshot.nodePools.map((pool) => ({
    nodePool: pool.name,
    manager: pool.manager,
    capacityTypes: [...pool.capacityTypes],
    nodes: pool.nodes,
    physicalGpus: pool.physicalGpus,
    limitGpus: pool.limitGpus,
    minNodes: pool.minNodes,
    maxNodes: pool.maxNodes,
    consolidationPolicy: pool.consolidationPolicy,
    consolidateAfterSeconds: pool.consolidateAfterSeconds,
    idleUnallocated: unallocated.get(pool.name) ?? 0,
    idleAllocated: allocated.get(pool.name) ?? 0,
    warm: warm.get(pool.name) ?? 0,
  }));
}
