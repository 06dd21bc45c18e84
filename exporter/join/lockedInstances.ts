import { changedReading } from "../model/changedReading.ts";
import type { DeviceReading } from "../model/telemetry.ts";
import type { PowerRange } from "./stall/gpuPower.ts";
import { stalledWatts } from "./stall/looksStalled.ts";

/** A device of a node, and the place of its reading. */
interface Shown {
  readonly gpuInstance: string | null;
  readonly model: string;
  readonly row: number;
}

/**
 * The readings of a node without the zeros of a locked profiler on GPUs in MIG mode. GPU_UTIL, which reveals such a profiler on
 * a whole GPU, says nothing about an instance. But where the profiling counters of all instances of a GPU are exactly 0 while
 * it draws more power than a GPU that computes nothing, they are not measured. A GPU whose model's power is unknown is
 * believed.
 */
export function withoutLockedZeros(
  readings: readonly DeviceReading[],
  devices: readonly Shown[],
  powerOf: (model: string) => PowerRange | null,
): readonly DeviceReading[] {
  const locked = new Set<string>();
  const measured = new Set<string>();
  for (const { gpuInstance, model, row } of devices) {
    const reading = gpuInstance === null ? undefined : readings[row];
    if (reading === undefined || measured.has(reading.uuid)) continue;
    if (isAllZero(reading) && drawsPower(reading, powerOf(model))) locked.add(reading.uuid);
    else measured.add(reading.uuid);
  }
  for (const uuid of measured) locked.delete(uuid);
  if (locked.size === 0) return readings;
  return readings.map((reading) =>
    reading.gpuInstance !== null && locked.has(reading.uuid) ? changedReading(reading, unmeasured) : reading,
  );
}

function isAllZero({ grEngineActive, smActive, tensorActive, dramActive, pipeActive }: DeviceReading): boolean {
  const all = [grEngineActive, smActive, tensorActive, dramActive, pipeActive].filter((value) => value !== null);
  return all.length > 0 && all.every((value) => value === 0);
}

function drawsPower({ powerWatts, powerLimitWatts }: DeviceReading, range: PowerRange | null): boolean {
  return powerWatts !== null && range !== null && powerWatts > stalledWatts(range, powerLimitWatts);
}

const unmeasured = {
  grEngineActive: null,
  smActive: null,
  tensorActive: null,
  dramActive: null,
  pipeActive: null,
  movedBytesPerSecond: null,
} as const;
