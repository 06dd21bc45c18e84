import type { EntitledNode } from "../../../exporter/analysis/fairness/claims.ts";
import type { QueueView } from "../../../exporter/join/queues/queueing.ts";

/** A node of a tree that is made up, with the terms of its queue. */
export interface TreeNode
  extends Omit<EntitledNode, "index" | "queue">,
    Pick<QueueView, "weight" | "zeroWeight" | "priority"> {
  /** Its place in the tree. */
  readonly id: number;
  /** `guaranteeIsFloor` of the queue. */
  readonly isFloor: boolean;
}

/** A root that wants nothing, without guarantee and limits. */
export function entitledNode(parts: Partial<TreeNode>): TreeNode {
  return {
    id: 0,
    parent: null,
    guaranteed: 0,
    limit: Number.POSITIVE_INFINITY,
    lendingLimit: Number.POSITIVE_INFINITY,
    weight: 1,
    zeroWeight: "never",
    priority: 0,
    isFloor: false,
    demand: 0,
    allocated: 0,
    usage: 0,
    ...parts,
  };
}
