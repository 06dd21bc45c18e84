import type { AnsweredSeries } from "./prometheusAnswer.ts";

/** A part of a window, and the process whose counters are read in it. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  /** Labels that the server gave this process when it scraped it; `null` for all processes, because none overlap. */
  readonly process: Readonly<Record<string, string>> | null;
  /** Seconds that are counted in the segment. */
  readonly coveredSeconds: number;
}

/**
 * The most segments of one day. With more changes, which come from replicas that come and go, one process is read for the whole
 * day.
 */
const maxSegments = 48;
/** The tolerance for rounding, and for what `increase` extrapolates at the ends of a step. */
const tolerance = 1.1;
/** A reader is kept while it covers at least this part of what the best one covers. */
const nearlyAsMuch = 0.8;

interface Step {
  readonly from: number;
  readonly to: number;
  /** Seconds that each process covered within the step, by its index. */
  readonly covered: readonly number[];
}

/**
 * Decides whose counters count at which time. Several replicas count the same GPUs, so their counters must not be added up,
 * while those of a process that follows another (a restart, a new pod) must be. `series` contain, at the end of each step, the
 * seconds that each process covered within the step. Where two processes cover the same time, one is read, as long as it covers
 * about as much as the best.
 */
export function chooseReaders(
  series: readonly AnsweredSeries[],
  from: number,
  to: number,
  step: number,
): readonly Segment[] {
  const steps = stepsOf(series, from, to, step);
  if (!steps.some(overlaps)) {
    const all = steps.reduce((sum, { covered }) => sum + total(covered), 0);
    return [{ from, to, process: null, coveredSeconds: Math.min(to - from, all) }];
  }
  const segments = segmentsOf(steps, series);
  if (segments.length <= maxSegments) return segments;
  const sums = series.map((_, i) => steps.reduce((sum, { covered }) => sum + (covered[i] ?? 0), 0));
  const longest = indexOfLargest(sums);
  const process = series[longest]?.labels ?? null;
  return [{ from, to, process, coveredSeconds: Math.min(to - from, sums[longest] ?? 0) }];
}

function stepsOf(series: readonly AnsweredSeries[], from: number, to: number, step: number): readonly Step[] {
  const byTime = series.map(({ points }) => new Map(points.map(([at, value]) => [Math.round(at), value])));
  const steps: Step[] = [];
  for (let end = from + step; end < to + step; end += step) {
    const last = Math.min(end, to);
    const covered = byTime.map((values) => Math.max(0, values.get(Math.round(end)) ?? 0));
    steps.push({ from: end - step, to: last, covered });
  }
  return steps;
}

function segmentsOf(steps: readonly Step[], series: readonly AnsweredSeries[]): readonly Segment[] {
  const segments: Segment[] = [];
  let reader: number | null = null;
  for (const step of steps) {
    const { covered } = step;
    const best = indexOfLargest(covered);
    const most = covered[best] ?? 0;
    const isReaderGood = reader !== null && (covered[reader] ?? 0) >= nearlyAsMuch * most;
    const last = segments.at(-1);
    if (last !== undefined && isReaderGood) {
      segments[segments.length - 1] = {
        ...last,
        to: step.to,
        coveredSeconds: last.coveredSeconds + within(step, reader),
      };
      continue;
    }
    reader = best;
    const process = series[best]?.labels ?? null;
    segments.push({ from: step.from, to: step.to, process, coveredSeconds: within(step, best) });
  }
  return segments;
}

function within({ from, to, covered }: Step, reader: number | null): number {
  return Math.min(to - from, reader === null ? 0 : (covered[reader] ?? 0));
}

function overlaps({ from, to, covered }: Step): boolean {
  return total(covered) > tolerance * (to - from) && covered.filter((seconds) => seconds > 0).length > 1;
}

const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);

function indexOfLargest(amounts: readonly number[]): number {
  return amounts.reduce((best, amount, i) => (amount > (amounts[best] ?? 0) ? i : best), 0);
}
