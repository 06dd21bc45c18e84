import type { Analysis } from "../../analysis/analysis.ts";
import type { NodePoolView, Snapshot } from "../../join/snapshot.ts";
import { emptyNodesOf, removesEmptyNode } from "../emptyNodes.ts";

/** Nodes that are worth emptying. */
export interface Removable {
  /** Names of nodes that their autoscaler removes once they are empty, and that it does not empty by itself. */
  readonly removable: ReadonlySet<string>;
  /** Why no node of a node pool is worth emptying, by node pool; only those that have an autoscaler. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Finds the nodes that are no longer paid for once they are empty, and that stay unless someone moves their pods. */
export function removableNodes({ snapshot, idleNodes }: Analysis): Removable {
  const refused = new Map<string, string>();
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.name, pool] as const));
  const overdue = new Map<string, string>();
  for (const { node: index, kind, isWarmPool, since } of idleNodes.nodes) {
    const node = snapshot.nodes[index];
    if (node === undefined || kind !== "unallocated" || isWarmPool || snapshot.at - since < overdueSeconds) continue;
    overdue.set(node.nodePool, node.name);
  }
  for (const pool of pools.values()) {
    if (pool.manager !== "karpenter" && pool.manager !== "cluster-autoscaler") continue;
    const why = notFreed(pool, overdue.get(pool.name));
    if (why !== null) refused.set(pool.name, why);
  }
  const removable = snapshot.nodes.filter((node, index) => {
    const pool = pools.get(node.nodePool);
    if (pool === undefined || refused.has(pool.name) || idleNodes.warm.has(index)) return false;
    // Reserved capacity is paid for either way.
    if (node.capacityType === "reserved" || !removesEmptyNode(pool, node)) return false;
    return (
      pool.manager !== "cluster-autoscaler" || node.allocatedByPods >= leastUtilization * (node.allocatableGpus ?? 0)
    );
  });
  return { removable: new Set(removable.map(({ name }) => name)), refused };
}

/** A node that has been idle for this long was not removed, and neither would the next one be. */
const overdueSeconds = 2 * 3600;

/**
 * Below this part of its GPUs in use, the Cluster Autoscaler empties a node by itself
 * (`scale-down-gpu-utilization-threshold`).
 */
const leastUtilization = 0.5;

/** Why freeing a node of a node pool gains nothing, or is not a task for people; `null` if it is. */
function notFreed(pool: NodePoolView, idle: string | undefined): string | null {
  const empty = emptyNodesOf(pool);
  if (empty.kind === "unknown") return `nobody knows whether an empty node of node pool ${pool.name} is removed`;
  if (empty.kind !== "removed") return `${empty.words}, so that it would stay and be paid for`;
  if (idle !== undefined) return `node ${idle} of node pool ${pool.name} is idle already and stays`;
  if (pool.manager === "karpenter" && pool.consolidationPolicy !== "WhenEmpty")
    return `Karpenter moves pods off nodes of NodePool ${pool.name} by itself (${pool.consolidationPolicy})`;
  return null;
}

/** What an autoscaler does with an empty node of a node pool. */
export function emptyNodeWords({ nodePools }: Snapshot, name: string): string {
  const pool = nodePools.find((one) => one.name === name);
  const empty = pool === undefined ? null : emptyNodesOf(pool);
  return empty === null || empty.kind === "unknown" ? "" : empty.words;
}
