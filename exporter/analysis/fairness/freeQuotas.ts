import { sumIn } from "./claims.ts";
import type { UnitClaims } from "./unitClaims.ts";
import type { SharedUnit } from "./units.ts";

/** What records may still use of quota when every queue has its own. Columns parallel to `SharedUnit.nodes`, physical GPUs. */
export interface FreeQuotas {
  /** The part of the quota that each keeps for its subtree. */
  readonly local: Float64Array;
  /** What may be passed up to its parent: by its limit, and by its guarantee. */
  readonly usual: Float64Array;
  readonly sure: Float64Array;
  /** The record above it; -1 where quota ends: at the root of a tree of Kueue, or of another scheduler. */
  readonly parent: Int32Array;
}

/**
 * The quotas of a domain as Kueue bounds them (pkg/cache/scheduler/resource_node.go): what a queue uses of its own is subtracted
 * first from what it keeps, then from what it may ask its parent for.
 */
export function freeQuotas(
  { nodes }: SharedUnit,
  { ofNodes: { kept, quota, children } }: UnitClaims,
  own: Float64Array,
): FreeQuotas {
  const column = () => new Float64Array(nodes.length);
  const [local, usual, sure] = [column(), column(), column()];
  const parents = new Int32Array(nodes.length).fill(-1);
  // For leaves, what they use themselves; for others, what those below have passed up.
  const used = column();
  for (let i = 0; i < used.length; i++) if (nodes[i]?.queue.isLeaf === true) used[i] = own[i] ?? 0;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node === undefined) continue;
    const { parent, limit } = node;
    const keeps = kept[i] ?? 0;
    const keepsLocally = Math.max(0, keeps - sumIn(kept, children[i] ?? none));
    const gone = used[i] ?? 0;
    const up = Math.max(0, gone - keepsLocally);
    if (parent !== null) used[parent] = (used[parent] ?? 0) + up;
    local[i] = Math.max(0, keepsLocally - gone);
    usual[i] = Math.max(0, limit - keeps - up);
    sure[i] = Math.max(0, (quota[i] ?? 0) - keeps - up);
    if (parent !== null && nodes[parent]?.queue.kind !== "Scheduler") parents[i] = parent;
  }
  return { local, usual, sure, parent: parents };
}

const none: readonly number[] = [];
