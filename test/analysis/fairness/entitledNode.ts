import type { EntitledNode } from "../../../exporter/analysis/fairness/claims.ts";

/** A root that wants nothing, without guarantee and limits. */
export function entitledNode(parts: Partial<EntitledNode>): EntitledNode {
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
