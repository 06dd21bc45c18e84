import type { WaterfallLevel } from "../history/waterfall.ts";
import type { GpuState } from "../model/gpuStates.ts";

/** States of GPU time as people read them. */
export const stateNames: Readonly<Record<GpuState, string>> = {
  active: "active",
  underused: "underused",
  held_idle: "held idle",
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
  held: "held",
  started: "started",
  active: "active",
};

/** A loss of the waterfall: GPUs are unavailable under a pod as well as free. */
export function dropName(state: GpuState, isHeld: boolean): string {
  return state === "unavailable" ? `unavailable, ${isHeld ? "held" : "not held"}` : stateNames[state];
}
