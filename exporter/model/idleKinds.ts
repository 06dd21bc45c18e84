/** `unallocated`: nothing holds a GPU of the node; `allocated`: everything that is allocated there is idle. */
export const idleKinds = ["unallocated", "allocated"] as const;

export type IdleKind = (typeof idleKinds)[number];

/**
 * States of a node's time; a node is in the first of these that applies to it. Idle nodes have one state for each kind;
 * `warm_...` is for those that are kept ready on purpose (`idle.warmPools`).
 */
export const nodeTimeStates = [
  "not_ready",
  "cordoned",
  "idle_unallocated",
  "idle_allocated",
  "warm_unallocated",
  "warm_allocated",
  "ready",
  "unknown",
] as const;

export type NodeTimeState = (typeof nodeTimeStates)[number];
