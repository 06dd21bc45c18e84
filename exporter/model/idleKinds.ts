/** `unallocated`: nothing holds a GPU of the node; `allocated`: everything that is allocated there is idle. */
export const idleKinds = ["unallocated", "allocated"] as const;

export type IdleKind = (typeof idleKinds)[number];

/**
 * A node is in the first of these that is true of it. Idle nodes by kind; `warm_...` are those that are kept ready on
 * purpose (`idle.warmPools`).
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
