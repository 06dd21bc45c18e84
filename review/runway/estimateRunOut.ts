import { firstPassages } from "./firstPassage.ts";
import { type DemandPoint, fitTrendModels, fromScale, type TrendModels } from "./trendModels.ts";

/** A whole week (Monday 00:00 UTC on), and its demand. */
export interface RunwayWeek {
  /** When the week begins, seconds since the epoch. */
  readonly from: number;
  /** 95 of 100 of its hours had at most this demand (allocated + pending), GPUs; `null` where too little of it is known. */
  readonly p95DemandGpus: number | null;
}

/** When demand will exceed capacity. Times are the begins of weeks, in seconds since the epoch. */
export interface RunOutEstimate {
  /**
   * `exhausted`: it does already; `growing`: it may within the horizon; `not-foreseeable`: it does within the horizon in fewer
   * than one of ten futures; `unknown`: nobody can know, and `reason` says why.
   */
  readonly state: "exhausted" | "growing" | "not-foreseeable" | "unknown";
  /**
   * In one of ten futures it happens before `earliest`, and in one of ten after `latest`: four of five futures are between
   * them. `null`: beyond the horizon.
   */
  readonly earliest: number | null;
  /** It happens before this in as many futures as after it; `null`: beyond the horizon. */
  readonly likely: number | null;
  readonly latest: number | null;
  /**
   * By how many GPUs per week demand grows now, as a mean over all models, weighted by their probability; `null` where no trend
   * is known.
   */
  readonly trendGpusPerWeek: number | null;
  /** What the estimate rests on, or why there is none: a sentence for people. */
  readonly reason: string;
}

const weekSeconds = 7 * 86_400;

/** The most weeks that are used: older ones say little about the future. */
const mostWeeks = 26;
const fewestWeeks = 4;
const earlyPart = 0.1;
const latePart = 0.9;

/**
 * Says in which week the p95 of hourly demand exceeds capacity for the first time, with an interval that holds the truth in
 * four of five cases. Lines are fitted to the weekly numbers and to their logarithms, with residuals that are correlated from
 * week to week (trendModels.ts). Futures are drawn from all of these lines by how well they explain the weeks. The ends of the
 * interval are the weeks by which one and nine of ten futures have exceeded capacity (first passage). Weeks may be missing.
 * Pure: the same numbers give the same answer, and if demand and capacity are multiplied by the same factor, the weeks stay the
 * same.
 *
 * @param weeks the weeks with their demand, the oldest first
 * @param capacityGpus the capacity, which is assumed to stay as it is; `null` where it is not known
 * @param now seconds since the epoch: weeks that ended before it are past
 */
export function estimateRunOut(
  weeks: readonly RunwayWeek[],
  capacityGpus: number | null,
  now: number,
  horizonWeeks = 52,
): RunOutEstimate {
  if (capacityGpus === null || !(capacityGpus > 0)) return unknown("The capacity is not known.");
  const known = weeks.slice(-mostWeeks).flatMap(({ from, p95DemandGpus }) => {
    const isKnown = p95DemandGpus !== null && p95DemandGpus >= 0 && Number.isFinite(p95DemandGpus);
    return isKnown ? [{ from, demand: p95DemandGpus }] : [];
  });
  const last = known.at(-1);
  if (last !== undefined && last.demand > capacityGpus) return exhausted(last.from, last.demand, capacityGpus);
  if (last === undefined || known.length < fewestWeeks)
    return unknown(
      `Only ${known.length} whole ${known.length === 1 ? "week is" : "weeks are"} known; a trend needs ${fewestWeeks}.`,
    );
  // Demand is at least this small amount, because the logarithm of 0 does not exist.
  const floor = capacityGpus / 1000;
  const points = known.map(
    ({ from, demand }): DemandPoint => ({ week: (from - last.from) / weekSeconds, demand: Math.max(demand, floor) }),
  );
  const trends = fitTrendModels(points);
  const firstWeek = Math.max(1, Math.floor((now - last.from) / weekSeconds));
  const passed = firstPassages(trends, capacityGpus, firstWeek, horizonWeeks);
  const beginOf = (week: number): number | null => (week < 0 ? null : last.from + (firstWeek + week) * weekSeconds);
  const [earliest, likely, latest] = [
    beginOf(beginNear(passed, earlyPart)),
    beginOf(passed.findIndex((part) => part >= 0.5)),
    beginOf(endNear(passed, latePart)),
  ];
  const trend = trendOf(trends);
  return {
    state: earliest === null ? "not-foreseeable" : "growing",
    earliest,
    likely,
    latest,
    trendGpusPerWeek: trend,
    reason: reasonOf(known.length, trend, passed.at(-1) ?? 0, horizonWeeks),
  };
}

/**
 * The last week before which the part of the futures that have exceeded capacity is nearest to `part`; -1: it stays below
 * `part` to the end.
 */
function beginNear(passed: readonly number[], part: number): number {
  if ((passed.at(-1) ?? 0) < part) return -1;
  return distances([0, ...passed.slice(0, -1)], part).reduce(
    (best, one, week, all) => (one <= (all[best] ?? 0) ? week : best),
    0,
  );
}

/**
 * The first week by whose end the part of the futures that have exceeded capacity is nearest to `part`; -1: it stays below
 * `part` to the end.
 */
function endNear(passed: readonly number[], part: number): number {
  if ((passed.at(-1) ?? 0) < part) return -1;
  return distances(passed, part).reduce((best, one, week, all) => (one < (all[best] ?? 0) ? week : best), 0);
}

const distances = (parts: readonly number[], wanted: number): readonly number[] =>
  parts.map((part) => Math.abs(part - wanted));

/** Slope at the last known week, in GPUs a week. */
function trendOf({ models, unit }: TrendModels): number {
  return models.reduce((sum, { scale, level, slope, weight }) => {
    const steepness = scale === "linear" ? slope : slope * fromScale(scale, level);
    return sum + weight * steepness * unit;
  }, 0);
}

const unknown = (reason: string): RunOutEstimate => ({
  state: "unknown",
  earliest: null,
  likely: null,
  latest: null,
  trendGpusPerWeek: null,
  reason,
});

function exhausted(at: number, demand: number, capacity: number): RunOutEstimate {
  return {
    state: "exhausted",
    earliest: at,
    likely: at,
    latest: at,
    trendGpusPerWeek: null,
    reason: `In the last known week 1 of 20 hours asked for more than ${gpus(demand)} GPUs; there are ${gpus(capacity)}.`,
  };
}

function reasonOf(weeks: number, trend: number, passed: number, horizonWeeks: number): string {
  const direction = trend >= 0 ? "grew" : "fell";
  const part = passed >= 0.995 ? "nearly all" : `${Math.round(100 * passed)} %`;
  return `Over ${weeks} weeks demand ${direction} by about ${gpus(Math.abs(trend))} GPUs a week; in ${part} of 2,000 futures drawn from this it exceeds capacity within ${horizonWeeks} weeks.`;
}

const gpus = (amount: number): string => amount.toLocaleString("en-US", { maximumSignificantDigits: 3 });
