import { secondsPerDay } from "../accounts/ledger/schema.ts";
/** What one day cost, and how much of it is counted. */
export interface DailyAmount {
  readonly amount: number;
  readonly coveredSeconds: number;
}

/** An amount at the end of a period; low and high are `null` where days cannot be compared yet. */
export interface Forecast {
  readonly low: number | null;
  readonly mid: number;
  readonly high: number | null;
  /** Days that are covered at least by half: the range is computed from them. */
  readonly days: number;
}

/** A day with less coverage says nothing about the spread. */
const leastCoveredPart = 0.5;
/** For a normal distribution, so that four ends in five are within the range. */
const deviationsOfRange = 1.28;

/**
 * What a period will have come to: what was spent and the mean day for each day that remains. Time that is not covered is left
 * out of the mean, so a day that is half covered counts half. The range is that of a sum of independent days (the spread of
 * the days, and of their mean): 1.28 standard deviations to each side, never below what is spent. `null` until a whole day is covered.
 */
export function forecastOf(spent: number, days: readonly DailyAmount[], remainingSeconds: number): Forecast | null {
  const covered = days.reduce((sum, { coveredSeconds }) => sum + coveredSeconds, 0);
  if (covered < secondsPerDay) return null;
  const remaining = Math.max(0, remainingSeconds) / secondsPerDay;
  const mean = (secondsPerDay * days.reduce((sum, { amount }) => sum + amount, 0)) / covered;
  const mid = spent + mean * remaining;
  const whole = days
    .filter(({ coveredSeconds }) => coveredSeconds >= leastCoveredPart * secondsPerDay)
    .map(({ amount, coveredSeconds }) => (amount * secondsPerDay) / coveredSeconds);
  const count = whole.length;
  if (remaining === 0) return { low: mid, mid, high: mid, days: count };
  if (count < 2) return { low: null, mid, high: null, days: count };
  const spread = standardDeviation(whole) * Math.sqrt(remaining + (remaining * remaining) / count);
  const away = deviationsOfRange * spread;
  return { low: Math.max(spent, mid - away), mid, high: mid + away, days: count };
}

/** For a sample. */
function standardDeviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}
