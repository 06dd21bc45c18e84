import { type EntitleOptions, entitle } from "../../../exporter/analysis/fairness/entitle.ts";
import type { SharedUnit } from "../../../exporter/analysis/fairness/units.ts";
import { queueView } from "../../queues/queueView.ts";
import type { TreeNode } from "./entitledNode.ts";

/** A tree of queues over one class of nodes. */
export function treeUnit(nodes: readonly TreeNode[], capacity: number): SharedUnit {
  const children = nodes.map((_, i) => nodes.flatMap(({ parent }, child) => (parent === i ? [child] : [])));
  return {
    domains: [0],
    nodes: nodes.map(({ id, weight, zeroWeight, priority, isFloor, ...node }, i) => ({
      ...node,
      index: id,
      queue: queueView({
        ...{ name: `q${i}`, weight, zeroWeight, priority, guaranteeIsFloor: isFloor },
        children: children[i] ?? [],
        isLeaf: children[i]?.length === 0,
      }),
    })),
    entities: nodes.map(({ parent }, i) => ({ nodes: [i], parent, children: children[i] ?? [] })),
    entityOf: Int32Array.from(nodes.keys()),
    classes: [{ domain: 0, nodeClass: 0, capacity: Math.max(0, capacity), free: 0 }],
    allocated: [],
    waiting: [],
    unqueued: [],
  };
}

/** What each queue of a tree is entitled to, parallel to the nodes. */
export const entitleTree = (nodes: readonly TreeNode[], capacity: number, options?: EntitleOptions): Float64Array =>
  entitle(treeUnit(nodes, capacity), options).totals;

/** The same with what each can claim. */
export function entitledTree(nodes: readonly TreeNode[], capacity: number, options?: EntitleOptions) {
  const { totals: grants, claims } = entitle(treeUnit(nodes, capacity), options);
  return { grants, claims };
}
