import type { UnitClaims } from "./unitClaims.ts";
import type { SharedUnit } from "./units.ts";

/** What a record may still use of quota when every queue has its own. Physical GPUs. */
export interface FreeQuota {
  /** The part of the quota that it keeps for its subtree. */
  readonly local: number;
  /** What may be passed up to its parent: by its limit, and by its guarantee. */
  readonly usual: number;
  readonly sure: number;
  /** Index into `SharedUnit.nodes`; `null` where quota ends: at the root of a tree of Kueue, or of another scheduler. */
  readonly parent: number | null;
}

/**
 * The quotas of a domain as Kueue bounds them (pkg/cache/scheduler/resource_node.go), parallel to `SharedUnit.nodes`: what a
 * queue uses of its own is subtracted first from what it keeps, then from what it may ask its parent for.
 */
export function freeQuotas(
  { nodes }: SharedUnit,
  { ofNodes: { kept, quota, children } }: UnitClaims,
  own: Float64Array,
): readonly FreeQuota[] {
  const found: FreeQuota[] = new Array(nodes.length);
  // For leaves, what they use themselves; for others, what those below have passed up.
  const used = own.map((gpus, i) => (nodes[i]?.queue.isLeaf === true ? gpus : 0));
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node === undefined) continue;
    const { parent, limit } = node;
    const keeps = kept[i] ?? 0;
    let below = 0;
    for (const child of children[i] ?? []) below += kept[child] ?? 0;
    const local = Math.max(0, keeps - below);
    const gone = used[i] ?? 0;
    const up = Math.max(0, gone - local);
    if (parent !== null) used[parent] = (used[parent] ?? 0) + up;
    found[i] = {
      local: Math.max(0, local - gone),
      usual: Math.max(0, limit - keeps - up),
      sure: Math.max(0, (quota[i] ?? 0) - keeps - up),
      parent: nodes[parent ?? -1]?.queue.kind === "Scheduler" ? null : parent,
    };
  }
  return found;
}
