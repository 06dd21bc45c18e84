import type { Device } from "../../join/snapshot.ts";
import type { PowerRange } from "../../join/stall/gpuPower.ts";
import { profilingIsLocked } from "../../join/stall/looksStalled.ts";
import type { DeviceReading } from "../../model/telemetry.ts";

/** What GPUs and MIG instances that one pod holds alone report about their work, added up by the share that is held. */
export interface WorkSum {
  /** Physical GPUs, whether they report anything or not. */
  gpus: number;
  /** Ratio times GPUs, and the number of GPUs that report it. */
  tensor: number;
  tensorGpus: number;
  dram: number;
  dramGpus: number;
  /** The sums for whole GPUs whose full power is known. */
  watts: number;
  fullWatts: number;
  powerGpus: number;
}

export const noWork = (): WorkSum => ({
  gpus: 0,
  tensor: 0,
  tensorGpus: 0,
  dram: 0,
  dramGpus: 0,
  watts: 0,
  fullWatts: 0,
  powerGpus: 0,
});

/**
 * How hard allocated GPUs work, by signals that only computing changes: means over the GPUs and MIG instances that one pod
 * holds alone, since the values of a shared GPU are those of all its holders. `null`: no such GPU reports the signal.
 */
export interface WorkRatios {
  readonly tensorActive: number | null;
  readonly dramActive: number | null;
  /** Power over the limit that is set, or else over the model's full power; for whole GPUs. */
  readonly power: number | null;
}

/** The ratios of a sum. */
export function workRatios(sum: WorkSum): WorkRatios {
  const part = (amount: number, whole: number) => (whole > 0 ? Math.min(1, amount / whole) : null);
  return {
    tensorActive: part(sum.tensor, sum.tensorGpus),
    dramActive: part(sum.dram, sum.dramGpus),
    power: part(sum.watts, sum.fullWatts),
  };
}

/** Adds up the sums of several teams. */
export function mergeWork(sums: readonly Readonly<WorkSum>[]): WorkSum {
  const merged = noWork();
  for (const sum of sums) {
    merged.gpus += sum.gpus;
    merged.tensor += sum.tensor;
    merged.tensorGpus += sum.tensorGpus;
    merged.dram += sum.dram;
    merged.dramGpus += sum.dramGpus;
    merged.watts += sum.watts;
    merged.fullWatts += sum.fullWatts;
    merged.powerGpus += sum.powerGpus;
  }
  return merged;
}

/** Adds what a device reports, for the physical GPUs that a pod holds of it; the range is that of its model. */
export function addWork(sum: WorkSum, { reading, gpuInstance }: Device, range: PowerRange | null, gpus: number): void {
  sum.gpus += gpus;
  if (reading === null) return;
  // The zeros of a locked profiler are not measurements.
  const isLocked = profilingIsLocked(reading);
  if (reading.tensorActive !== null && !isLocked) {
    sum.tensor += reading.tensorActive * gpus;
    sum.tensorGpus += gpus;
  }
  if (reading.dramActive !== null && !isLocked) {
    sum.dram += reading.dramActive * gpus;
    sum.dramGpus += gpus;
  }
  // The power of a MIG instance is that of its GPU, so it counts as unknown.
  const full = gpuInstance === null ? fullWattsOf(reading, range) : null;
  if (full === null || reading.powerWatts === null) return;
  sum.watts += reading.powerWatts * gpus;
  sum.fullWatts += full * gpus;
  sum.powerGpus += gpus;
}

function fullWattsOf({ powerLimitWatts }: DeviceReading, range: PowerRange | null): number | null {
  const limit = powerLimitWatts !== null && powerLimitWatts > 0 ? powerLimitWatts : null;
  const full = range?.fullWatts ?? limit;
  return full === null ? null : Math.min(full, limit ?? full);
}
