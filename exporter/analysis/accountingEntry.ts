import type { HealthCause } from "../model/gpuFaults.ts";
import type { GpuState } from "../model/gpuStates.ts";
import type { IdleReason } from "../model/idleReasons.ts";

/**
 * A part of a physical GPU at one moment, with everything that it is counted for. The accounting entries of a Snapshot add up
 * to the physical GPUs of its counted nodes; every total that Fairlead publishes is a sum of accounting entries.
 */
export interface AccountingEntry {
  /** Physical GPUs. */
  readonly gpus: number;
  readonly state: GpuState;
  readonly node: string;
  readonly pool: string;
  /** Index into `Snapshot.devices`; `null` for unpartitioned parts. */
  readonly device: number | null;
  /** Index into `Snapshot.pods`; `null` when no pod holds it. */
  readonly pod: number | null;
  readonly estimated: boolean;
  /** Why it is `unavailable`, or else why the GPU, which works, is slower than it could be; absent: neither is true. */
  readonly cause?: HealthCause;
  /** Why it is `idle`, where its server shows that; absent: the reason is `no-activity`, or it is not idle. */
  readonly idleReason?: Exclude<IdleReason, "no-activity">;
}
