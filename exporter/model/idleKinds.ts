/** `unallocated`: nothing holds a GPU of the node; `held`: everything that is held there is held idle. */
export const idleKinds = ["unallocated", "held"] as const;

export type IdleKind = (typeof idleKinds)[number];

/**
 * A node is in the first of these that is true of it. Idle nodes by kind; `warm_...` are those that are kept ready on
 * purpose (`idle.warmPools`).
 */
export const nodeTimeStates = [
  "not_ready",
  "cordoned",
  "idle_unallocated",
  "idle_held",
  "warm_unallocated",
  "warm_held",
  "ready",
  "unknown",
] as const;

export type NodeTimeState = (typeof nodeTimeStates)[number];
