/**
 * One change to a cluster, as a person who follows advice would make it. Indices are those of the Snapshot from which it
 * starts.
 */
export type Change =
  /**
   * All pods of the workload lose what they hold, and none of them comes back (it is suspended, scaled to zero or deactivated).
   */
  | { readonly kind: "stop"; readonly workload: number }
  /** The pods leave their nodes and are placed again in this order, on any node that takes them, except those in `avoid`. */
  | { readonly kind: "move"; readonly pods: readonly number[]; readonly avoid: readonly number[] }
  /** The node is removed; no pod on it holds GPUs. */
  | { readonly kind: "removeNode"; readonly node: number }
  /** A queue gets another guarantee or limit in its domain. */
  | { readonly kind: "setQueue"; readonly queue: number; readonly guaranteed?: number; readonly limit?: number }
  /**
   * The scheduler of a queue takes back what others borrow from this queue, as far as that serves waiting work. `policy`: the
   * assumed value of `reclaimWithinCohort` of a queue of Kueue; absent: its present value.
   */
  | { readonly kind: "letReclaim"; readonly queue: number; readonly policy?: "Any" | "LowerPriority" }
  /** The pods of a workload hold only this many physical GPUs each from now on. */
  | { readonly kind: "shrink"; readonly workload: number; readonly gpusPerPod: number }
  /** The devices of a node are observed again. */
  | { readonly kind: "observe"; readonly node: number };

/** Changes in their order, and the waiting gangs (indices) that are started afterwards in this order, as far as they fit. */
export interface Plan {
  readonly changes: readonly Change[];
  readonly starts: readonly number[];
}

/**
 * Where a scheduler puts a pod that fits on several nodes: the one with the fewest free GPUs, or with the most; where these are
 * equal, the order of the moment decides.
 */
export const placementRules = ["mostAllocated", "leastAllocated"] as const;

export type PlacementRule = (typeof placementRules)[number];
