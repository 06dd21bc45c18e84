import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { IdleKind } from "../../model/idleKinds.ts";
import { canBeIdle, isIdleNode, type NodeUse } from "../states.ts";
import { isWarmPool, type WarmPools } from "../warmPools.ts";
import type { IdleNode, IdleNodes } from "./idleNodes.ts";

/** The settings that define idle nodes. */
export interface IdleNodeSettings {
  readonly warmPools: WarmPools;
}

/**
 * Finds the idle nodes of a moment (design: idle nodes); `uses` are those that `accountStates` says. `since` comes from the
 * moment before: a node that was not idle in the same way then is idle since now, because no object shows when its last pod
 * ended. Pure.
 */
export function findIdleNodes(
  snapshot: Snapshot,
  uses: readonly NodeUse[],
  since: ReadonlyMap<string, number>,
  { warmPools }: IdleNodeSettings,
): IdleNodes {
  const nodes: IdleNode[] = [];
  const begins = new Map<string, number>();
  const warm = new Set<number>();
  for (const [index, node] of snapshot.nodes.entries()) {
    const isWarm = isWarmPool(node.labels, warmPools);
    if (isWarm) warm.add(index);
    const kind = snapshot.coverage.objects ? kindOf(snapshot, node, uses[index] ?? null) : null;
    if (kind === null) continue;
    const key = `${kind}/${node.name}`;
    const begin = since.get(key) ?? snapshot.at;
    begins.set(key, begin);
    nodes.push({ node: index, kind, isWarmPool: isWarm, since: begin });
  }
  // While pods are not read, it is unknown what is allocated; a streak continues once they are.
  return { nodes, since: snapshot.coverage.objects ? begins : since, warm };
}

function kindOf(snapshot: Snapshot, node: NodeView, use: NodeUse): IdleKind | null {
  if (use === null) return isIdleNode(snapshot, node) ? "unallocated" : null;
  return use === "idle" && canBeIdle(snapshot, node) ? "allocated" : null;
}
