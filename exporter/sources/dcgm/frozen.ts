import type { DeviceReading, TelemetryPage } from "../../model/telemetry.ts";

/**
 * Shortest time without any change that shows a lost host engine. dcgm-exporter collects every 30 s by default; who
 * has set DCGM_EXPORTER_INTERVAL to a minute or two sees the same values in several scrapes.
 */
const leastFrozenSeconds = 180;

/** The number of pages in a row that must have the values of the one before. */
const leastStillPages = 3;

/** How long the values of a page may stay unchanged, for pages that are used up to `maxAgeSeconds`. */
export function frozenAfterSeconds(maxAgeSeconds: number): number {
  return Math.max(leastFrozenSeconds, 2 * maxAgeSeconds);
}

/**
 * How long the values of a page without an energy counter may stay unchanged before it is unknown whether it is measured: less
 * than the shortest window of idleness (30 min), so that frozen zeros never become idle GPUs.
 */
const doubtfulAfterSeconds = 900;

/** Pages of one exporter, and for how long they have been the same. */
export interface Standstill {
  readonly pages: readonly TelemetryPage[];
  /** Since when they have the values that they have now, seconds since the epoch. */
  readonly movedAt: number;
  /** Pages in a row that had the values of the one before. */
  readonly stillPages: number;
}

/**
 * Whether pages that still come are measured still.
 *
 * - `frozen`: nothing moves, not even the energy counter of a GPU that draws power, which counts for as long as the exporter
 *   measures. That is no data.
 * - `doubtful`: there is no such counter, and for a quarter of an hour none of the values change that jitter even on an idle
 *   GPU: a power in fractions of a watt, or the powers and temperatures of several GPUs. Most likely it is frozen, but idle
 *   GPUs may really do nothing for a while. The two cannot be distinguished, so it is no data either.
 */
export function standstill(
  { pages, movedAt, stillPages }: Standstill,
  now: number,
  frozenAfterSeconds: number,
): "frozen" | "doubtful" | null {
  // Pages are counted beside the time, which may jump.
  const seconds = now - movedAt;
  if (stillPages < leastStillPages || seconds < frozenAfterSeconds) return null;
  const devices = pages.flatMap((page) => page.devices);
  if (devices.some(isCounting)) return "frozen";
  return seconds >= Math.max(doubtfulAfterSeconds, frozenAfterSeconds) && wouldJitter(devices) ? "doubtful" : null;
}

/** The energy counter of a GPU that draws power: the one number that moves whatever the GPU does. */
function isCounting({ energyJoules, powerWatts }: DeviceReading): boolean {
  return energyJoules !== null && energyJoules > 0 && powerWatts !== null && powerWatts > 0;
}

/** NVML gives power in milliwatts, which no idle GPU keeps for long; whole watts and degrees may stay on one, not on several. */
function wouldJitter(devices: readonly DeviceReading[]): boolean {
  const physicalGpus = new Set<string>();
  for (const { uuid, powerWatts, temperatureCelsius } of devices) {
    if (powerWatts !== null && powerWatts > 0 && !Number.isInteger(powerWatts)) return true;
    if ((powerWatts ?? 0) > 0 || (temperatureCelsius ?? 0) > 0) physicalGpus.add(uuid);
  }
  return physicalGpus.size > 1;
}
