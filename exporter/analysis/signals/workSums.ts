import type { Device } from "../../join/snapshot.ts";
import type { PowerRange } from "../../join/stall/gpuPower.ts";
import { profilingIsLocked } from "../../join/stall/looksStalled.ts";
import type { DeviceReading } from "../../model/telemetry.ts";

/** What GPUs and MIG instances that one pod holds alone report about their work, added up by the share that is held. */
export interface WorkSum {
  /** Physical GPUs, whether they report anything or not. */
  gpus: number;
  /** Ratio times GPUs, and the GPUs that report it. */
  tensor: number;
  tensorGpus: number;
  dram: number;
  dramGpus: number;
  /** Of whole GPUs whose full power is known. */
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
 * How hard allocated GPUs work by signals that only computing moves: means over the GPUs and MIG instances that one pod holds
 * alone, since a shared GPU's values are of all its holders. `null`: no such GPU reports it.
 */
export interface WorkRatios {
  readonly tensorActive: number | null;
  readonly dramActive: number | null;
  /** Power over the limit that is set, or else over the model's full power; of whole GPUs. */
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

/** What one device reports; power and full power together, or neither. */
interface WorkValues {
  readonly tensor: number | null;
  readonly dram: number | null;
  readonly power: { readonly watts: number; readonly fullWatts: number } | null;
}

const nothingKnown: WorkValues = { tensor: null, dram: null, power: null };

/** What a device reports; the range is that of its model. The power of a MIG instance is its GPU's, so that it counts as unknown. */
export function workValues({ reading, gpuInstance }: Device, range: PowerRange | null): WorkValues {
  if (reading === null) return nothingKnown;
  // The zeros of a locked profiler are no measurement.
  const isLocked = profilingIsLocked(reading);
  return {
    tensor: isLocked ? null : reading.tensorActive,
    dram: isLocked ? null : reading.dramActive,
    power: gpuInstance === null ? powerOf(reading, range) : null,
  };
}

function powerOf({ powerWatts, powerLimitWatts }: DeviceReading, range: PowerRange | null): WorkValues["power"] {
  if (powerWatts === null) return null;
  const limit = powerLimitWatts !== null && powerLimitWatts > 0 ? powerLimitWatts : null;
  const full = range?.fullWatts ?? limit;
  return full === null ? null : { watts: powerWatts, fullWatts: Math.min(full, limit ?? full) };
}

/** Adds what a device reports, for the physical GPUs that a pod holds of it. */
export function addWork(sum: WorkSum, { tensor, dram, power }: WorkValues, gpus: number): void {
  sum.gpus += gpus;
  if (tensor !== null) {
    sum.tensor += tensor * gpus;
    sum.tensorGpus += gpus;
  }
  if (dram !== null) {
    sum.dram += dram * gpus;
    sum.dramGpus += gpus;
  }
  if (power === null) return;
  sum.watts += power.watts * gpus;
  sum.fullWatts += power.fullWatts * gpus;
  sum.powerGpus += gpus;
}
