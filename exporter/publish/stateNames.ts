import type { WaterfallLevel } from "../history/waterfall.ts";
import type { GpuState } from "../model/gpuStates.ts";

/** States of GPU time as people read them. */
export const stateNames: Readonly<Record<GpuState, string>> = {
  active: "active",
  underutilized: "underutilized",
  idle: "idle",
  stalled: "stalled",
  starting: "starting",
  gang_wait: "gang wait",
  unobserved: "unobserved",
  free: "free",
  idle_node: "idle node",
  unattributed: "unattributed",
  cordoned: "cordoned",
  unavailable: "unavailable",
};

/** Levels of the waterfall as people read them. */
export const levelNames: Readonly<Record<WaterfallLevel, string>> = {
  capacity: "capacity",
  ready: "ready",
  allocated: "allocated",
  started: "started",
  active: "active",
};

/**
 * The name of a loss of the waterfall. It says whether unavailable GPUs are allocated or not; other states are only one of the
 * two.
 */
export function dropName(state: GpuState, isAllocated: boolean): string {
  return state === "unavailable" ? `unavailable, ${isAllocated ? "allocated" : "not allocated"}` : stateNames[state];
}
