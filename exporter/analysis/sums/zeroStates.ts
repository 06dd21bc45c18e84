import type { GpuState } from "../../model/gpuStates.ts";

/** An amount for each state of GPUs, to be added to. */
export type States = Record<GpuState, number>;

/** Nothing in any state. */
export function zeroStates(): States {
  return {
    active: 0,
    underutilized: 0,
    idle: 0,
    stalled: 0,
    starting: 0,
    gang_wait: 0,
    unobserved: 0,
    unavailable: 0,
    free: 0,
    idle_node: 0,
    unattributed: 0,
    cordoned: 0,
  };
}
