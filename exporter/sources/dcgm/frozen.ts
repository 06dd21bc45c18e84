import type { DeviceReading, TelemetryPage } from "../../model/telemetry.ts";

/**
 * Shortest time without any change that tells a lost host engine. dcgm-exporter collects every 30 s by default; who
 * has set DCGM_EXPORTER_INTERVAL to a minute or two sees the same values in several scrapes.
 */
const leastFrozenSeconds = 180;

/** So many pages in a row must have the values of the one before. */
export const leastStillPages = 3;

/** How long the values of a page may stand still, for pages that are used up to `maxAgeSeconds`. */
export function frozenAfterSeconds(maxAgeSeconds: number): number {
  return Math.max(leastFrozenSeconds, 2 * maxAgeSeconds);
}

/**
 * Whether a page has a number that moves for as long as the exporter measures: the energy counter of a card that draws
 * power. Without one nothing can be said: all other numbers of an idle GPU may stand still in earnest.
 */
export function isMeasuring(page: TelemetryPage): boolean {
  return page.devices.some(isCounting);
}

function isCounting({ energyJoules, powerWatts }: DeviceReading): boolean {
  return energyJoules !== null && energyJoules > 0 && powerWatts !== null && powerWatts > 0;
}
