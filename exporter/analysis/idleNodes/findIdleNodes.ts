import type { NodeView, Snapshot } from "../../join/snapshot.ts";
import type { IdleKind } from "../../model/idleKinds.ts";
import type { NodeUse } from "../states.ts";
import { canBeIdle, isIdleNode, isWarmPool, type WarmPools } from "../unallocatedState.ts";

/** One idle node. */
export interface IdleNode {
  /** Index into `Snapshot.nodes`. */
  readonly node: number;
  readonly kind: IdleKind;
  /**
   * Whether it is kept ready on purpose (a label of `idle.warmPools`): then it is counted separately, and never called waste.
   */
  readonly isWarmPool: boolean;
  /** Since when it has been idle in this way without a break, seconds since the epoch. */
  readonly since: number;
}

/** Nodes at one moment that serve nobody, or on which all that is allocated is idle. */
export interface IdleNodes {
  /** The idle nodes, ordered by index. */
  readonly nodes: readonly IdleNode[];
  /** Since when each node has been idle, by `kind/node`; the next moment needs it. */
  readonly since: ReadonlyMap<string, number>;
  /** Nodes that are kept ready on purpose, idle or not; indices into `Snapshot.nodes`. */
  readonly warm: ReadonlySet<number>;
}

/** The value for a moment without an idle node. */
export const noIdleNodes: IdleNodes = { nodes: [], since: new Map(), warm: new Set() };

/** The settings that define idle nodes. */
export interface IdleNodeSettings {
  readonly warmPools: WarmPools;
}

/**
 * Finds the idle nodes of a moment (design: idle nodes); `uses` is the result of `accountStates`. `since` comes from the
 * previous moment: a node that was not idle in the same way then has been idle since now, because no object shows when its last
 * pod ended. Pure.
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
  // While pods are not read, it is unknown what is allocated; a streak continues once they are read again.
  return { nodes, since: snapshot.coverage.objects ? begins : since, warm };
}

function kindOf(snapshot: Snapshot, node: NodeView, use: NodeUse): IdleKind | null {
  if (use === null) return isIdleNode(snapshot, node) ? "unallocated" : null;
  return use === "idle" && canBeIdle(snapshot, node) ? "allocated" : null;
}
