import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { StallUnknownReason } from "../../model/telemetrySignals.ts";
import type { Device } from "../snapshot.ts";
import type { PowerRange } from "./gpuPower.ts";
import { profilingIsLocked } from "./looksStalled.ts";

/**
 * Why nothing shows whether the holder of an allocated device is stalled; `null`: something does. This mirrors `looksStalled`;
 * `range` is the power of the device's model.
 */
export function stallUnknownBecause(device: Device, range: PowerRange | null): StallUnknownReason | null {
  const { reading, gpuInstance, holders } = device;
  if (reading === null) return "no_telemetry";
  const [only] = holders;
  if (gpuInstance !== null || holders.length !== 1 || only === undefined || only.estimated) return "shared";
  if (only.share < device.weight - gpuTolerance) return "shared";
  if (reading.tensorActive === null) return "no_tensor";
  if (reading.dramActive === null) return "no_dram";
  if (reading.powerWatts === null) return "no_power";
  if (reading.grEngineActive === null && reading.gpuUtil === null && reading.smActive === null) return "no_engine";
  if (profilingIsLocked(reading)) return "locked_profiling";
  return range === null ? "unknown_model" : null;
}
