import type { Analysis } from "../analysis/analysis.ts";
import type { NodePoolView, NodeView, Snapshot } from "../join/snapshot.ts";
import { oncePer } from "../kernel/once.ts";
import { countWords, durationWords } from "./kinds/words.ts";

/** What happens to an empty node of a node pool, as far as the settings of its autoscaler show. */
export type EmptyNodes =
  /** Its autoscaler removes it after this time. */
  | { readonly kind: "removed"; readonly afterSeconds: number; readonly words: string }
  /** Its NodePool never lets an empty node go: `consolidateAfter` is Never, or these budgets (indices) of 0 always hold. */
  | { readonly kind: "kept"; readonly by: "never" | readonly number[]; readonly words: string }
  /** Its NodePool removes it outside the hours of a budget of 0. */
  | { readonly kind: "at-times"; readonly words: string }
  /** Nobody removes it by itself, or this is not known. */
  | { readonly kind: "unknown" };

/** `--scale-down-unneeded-time` of the Cluster Autoscaler where it is not set, seconds. */
const unneededSeconds = 600;

/** What the autoscaler of a node pool does with an empty node. */
export const emptyNodesOf = oncePer((pool: NodePoolView): EmptyNodes => {
  if (pool.manager === "cluster-autoscaler") {
    if (pool.minNodes === null || pool.nodes <= pool.minNodes) return { kind: "unknown" };
    const words = `the Cluster Autoscaler removes an empty node after ${durationWords(unneededSeconds)} (scale-down-unneeded-time, where nothing else is set)`;
    return { kind: "removed", afterSeconds: unneededSeconds, words };
  }
  if (pool.manager !== "karpenter" || pool.consolidationPolicy === null) return { kind: "unknown" };
  const { name, consolidationPolicy, consolidateAfterSeconds, karpenter } = pool;
  if (consolidateAfterSeconds === null)
    return { kind: "kept", by: "never", words: `NodePool ${name} has consolidateAfter: Never` };
  const closed = (karpenter?.budgets ?? []).flatMap((budget, index) =>
    /^0+%?$/.test(budget.nodes) && (budget.reasons.length === 0 || budget.reasons.includes("Empty"))
      ? [{ index, isAlways: budget.schedule === "" }]
      : [],
  );
  const always = closed.flatMap(({ index, isAlways }) => (isAlways ? [index] : []));
  if (always.length > 0)
    return {
      kind: "kept",
      by: always,
      words: `NodePool ${name} has ${countWords(always.length, "disruption budget")} of 0 nodes that always ${always.length === 1 ? "holds" : "hold"}`,
    };
  if (closed.length > 0)
    return { kind: "at-times", words: `NodePool ${name} has a disruption budget of 0 nodes with a schedule` };
  const words = `Karpenter removes an empty node of NodePool ${name} after ${durationWords(consolidateAfterSeconds)} (${consolidationPolicy})`;
  return { kind: "removed", afterSeconds: consolidateAfterSeconds, words };
});

const daySeconds = 86_400;

/**
 * Whether an autoscaler removes a node within a day after it becomes empty, if it has removed `before` other nodes of the pool
 * first.
 */
export function removesEmptyNode(pool: NodePoolView, { keptBy }: NodeView, before = 0): boolean {
  const empty = emptyNodesOf(pool);
  if (empty.kind !== "removed" || empty.afterSeconds > daySeconds || keptBy !== undefined) return false;
  return pool.nodes - before > (pool.minNodes ?? 0);
}

/** Nodes that are worth emptying. */
export interface Removable {
  /** Nodes that their autoscaler removes once they are empty, and that it does not empty by itself. */
  readonly removable: readonly NodeView[];
  /** By node pool: why none of its nodes is worth emptying. Only node pools with an autoscaler are listed. */
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
  return { removable, refused };
}

/** A node that has been idle for this long (seconds) was not removed, and the next one would not be, either. */
const overdueSeconds = 2 * 3600;

/**
 * Below this part of its GPUs in use, the Cluster Autoscaler empties a node by itself
 * (`scale-down-gpu-utilization-threshold`).
 */
const leastUtilization = 0.5;

/** Why nothing is gained by freeing a node of a node pool, or why this is not a task for people; `null` if it is worth it. */
function notFreed(pool: NodePoolView, idle: string | undefined): string | null {
  const empty = emptyNodesOf(pool);
  if (empty.kind === "unknown") return `nobody knows whether an empty node of node pool ${pool.name} is removed`;
  if (empty.kind !== "removed") return `${empty.words}, so that it would stay and be paid for`;
  if (idle !== undefined) return `node ${idle} of node pool ${pool.name} is idle already and stays`;
  if (pool.manager === "karpenter" && pool.consolidationPolicy !== "WhenEmpty")
    return `Karpenter moves pods off nodes of NodePool ${pool.name} by itself (${pool.consolidationPolicy})`;
  return null;
}

/** Words about what an autoscaler does with an empty node of a node pool; empty where this is not known. */
export function emptyNodeWords({ nodePools }: Snapshot, name: string): string {
  const pool = nodePools.find((one) => one.name === name);
  const empty = pool === undefined ? null : emptyNodesOf(pool);
  return empty === null || empty.kind === "unknown" ? "" : empty.words;
}
