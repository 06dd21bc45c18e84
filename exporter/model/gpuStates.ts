/**
 * The states of allocated GPU time (design: double-entry GPU time). GPUs are also `unobserved` if neither pods nor telemetry
 * show whether they are allocated; such time is not counted.
 */
export const allocatedStates = [
  "active",
  "underutilized",
  "idle",
  "stalled",
  "starting",
  "gang_wait",
  "unobserved",
] as const;

/** The states of allocated GPU time that was observed; utilization is the active part of it. */
export const observedStates = ["active", "underutilized", "idle", "stalled"] as const;

/** The states of allocated GPU time in which work ran with all that it needs, whether it was observed or not. */
export const runningStates = [...observedStates, "unobserved"] as const;

/** The states of observed GPU time in which the GPU was not used, or not used enough. */
export const wastedStates = ["underutilized", "idle", "stalled"] as const;

/** The states of GPU time that nobody holds; `unavailable` is a state of both. */
export const unallocatedStates = ["free", "idle_node", "unattributed", "cordoned", "unavailable"] as const;

/**
 * The states of GPU time that belongs to a team. `unavailable` is a state of unallocated GPUs, too: only time with a team is
 * meant.
 */
export const allocatedTimeStates = [...allocatedStates, "unavailable"] as const;

export const gpuStates = [...allocatedStates, ...unallocatedStates] as const;

/** The state of a physical GPU; every GPU is in exactly one of these at every moment. */
export type GpuState = (typeof gpuStates)[number];

/** Number of each state, in the order of `gpuStates`. */
export const stateIds: ReadonlyMap<GpuState, number> = new Map(gpuStates.map((state, id) => [state, id] as const));
