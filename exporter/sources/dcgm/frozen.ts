import type { DeviceReading, TelemetryPage } from "../../model/telemetry.ts";

/**
 * The shortest time without any change that shows a lost host engine. dcgm-exporter collects every 30 s by default; with
 * DCGM_EXPORTER_INTERVAL set to a minute or two, several scrapes return the same values.
 */
const leastFrozenSeconds = 180;

/** The least number of successive pages that must have the values of the one before. */
const leastStillPages = 3;

/** The time for which the values of a page may stay unchanged, for pages that are used up to `maxAgeSeconds`. */
export function frozenAfterSeconds(maxAgeSeconds: number): number {
  return Math.max(leastFrozenSeconds, 2 * maxAgeSeconds);
}

/**
 * The time for which the values of a page without an energy counter may stay unchanged before it is unknown whether they are
 * measured. It is less than the shortest window of idleness (30 min), so that frozen zeros never become idle GPUs.
 */
const doubtfulAfterSeconds = 900;

/** Pages of one exporter, and for how long they have been the same. */
export interface Standstill {
  readonly pages: readonly TelemetryPage[];
  /** The time since which they have had their present values, seconds since the epoch. */
  readonly movedAt: number;
  /** The number of successive pages that had the values of the one before. */
  readonly stillPages: number;
}

/**
 * Whether the values of pages that still come are still measured.
 *
 * - `frozen`: nothing changes, not even the energy counter of a GPU that draws power, which counts for as long as the exporter
 *   measures. That is no data.
 * - `doubtful`: there is no energy counter, and for a quarter of an hour no value has changed that jitters even on an idle GPU:
 *   a power in fractions of a watt, or the powers and temperatures of several GPUs. Most likely the page is frozen, but idle
 *   GPUs may really do nothing for a while. The two cannot be distinguished, so it is no data either.
 */
export function standstill(
  { pages, movedAt, stillPages }: Standstill,
  now: number,
  frozenAfterSeconds: number,
): "frozen" | "doubtful" | null {
  // Pages are counted in addition to the time, because the clock may jump.
  const seconds = now - movedAt;
  if (stillPages < leastStillPages || seconds < frozenAfterSeconds) return null;
  const devices = pages.flatMap((page) => page.devices);
  if (devices.some(isCounting)) return "frozen";
  return seconds >= Math.max(doubtfulAfterSeconds, frozenAfterSeconds) && wouldJitter(devices) ? "doubtful" : null;
}

/** Whether a reading has the energy counter of a GPU that draws power: the one number that changes whatever the GPU does. */
function isCounting({ energyJoules, powerWatts }: DeviceReading): boolean {
  return energyJoules !== null && energyJoules > 0 && powerWatts !== null && powerWatts > 0;
}

/**
 * Whether the readings of these devices would change even if the GPUs were idle. NVML gives power in milliwatts, which no idle
 * GPU keeps for long; whole watts and degrees may stay the same on one GPU, but not on several.
 */
function wouldJitter(devices: readonly DeviceReading[]): boolean {
  const physicalGpus = new Set<string>();
  for (const { uuid, powerWatts, temperatureCelsius } of devices) {
    if (powerWatts !== null && powerWatts > 0 && !Number.isInteger(powerWatts)) return true;
    if ((powerWatts ?? 0) > 0 || (temperatureCelsius ?? 0) > 0) physicalGpus.add(uuid);
  }
  return physicalGpus.size > 1;
}
