import type { GpuState } from "../model/gpuStates.ts";

/** Physical GPUs by state; a missing state is 0. */
export type GpusByState = Readonly<Partial<Record<GpuState, number>>>;

/** What one team, or everything, holds at one moment, and how this is used. */
export interface TeamTotals {
  readonly team: string;
  /** Physical GPUs that are allocated. */
  readonly allocated: number;
  /** Effective GPUs: allocated x activity, over the GPUs that are observed. */
  readonly active: number;
  /** active / (held - unobserved - gang_wait - starting - unavailable); `null` if nothing was observed. */
  readonly utilization: number | null;
  readonly states: GpusByState;
  /** Allocated GPUs whose device or split of activity is estimated. */
  readonly estimated: number;
  /** Allocated GPUs that are idle but opted out by label. */
  readonly idleOptedOut: number;
  /** Physical GPUs that its pods wait for. */
  readonly pending: number;
}

/** The GPUs of one pool at one moment; `states` adds up to `physicalGpus`. */
export interface PoolTotals {
  readonly pool: string;
  readonly gpuModels: readonly string[];
  readonly nodes: number;
  readonly physicalGpus: number;
  readonly allocated: number;
  readonly states: GpusByState;
  readonly estimated: number;
  /** Mean activity of the observed GPUs of the pool, weighted; `null` if nothing was observed. */
  readonly activity: number | null;
  /** Like a team's: active / (held - unobserved - gang_wait - starting - unavailable). */
  readonly utilization: number | null;
  /** Sum over nodes of |held by device - held by pod|; 0 when both accounts agree. */
  readonly imbalance: number;
}
