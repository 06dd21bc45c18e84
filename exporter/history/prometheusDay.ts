import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { isoDay } from "../kernel/isoTime.ts";
import type { TotalsQuestion, TotalsResult } from "./history.ts";
import { type AnsweredSeries, labelIn } from "./prometheusAnswer.ts";
import type { Asked, PrometheusClient } from "./prometheusClient.ts";
import {
  coveredQuery,
  growthQuery,
  isUnpricedCounted,
  labelOf,
  type SeriesScope,
  type TotalsCounter,
  unpricedQuery,
  valueFrom,
} from "./prometheusQueries.ts";
import { chooseReaders, type Segment } from "./readers.ts";
import type { TotalsPart } from "./totalsSum.ts";

/** A part of a window that is within one UTC day. Times are seconds since the epoch. */
export interface Chunk {
  readonly from: number;
  readonly to: number;
  /** The day, such as `2026-11-21`. */
  readonly day: string;
}

/** Cuts [from, to) at UTC midnights. */
export function dayChunks(from: number, to: number): readonly Chunk[] {
  const chunks: Chunk[] = [];
  for (let begin = from; begin < to; ) {
    const end = Math.min(to, (Math.floor(begin / secondsPerDay) + 1) * secondsPerDay);
    chunks.push({ from: begin, to: end, day: isoDay(begin) });
    begin = end;
  }
  return chunks;
}

type Failure = Extract<TotalsResult, { readonly ok: false }>;

const nothing: Asked = { ok: true, series: [] };
/** Replicas overlap when together they cover more than this many times the time that passed. */
const overlapRatio = 1.005;
/** A day is queried in steps of this length in seconds, and a shorter window in as many steps as `stepsPerWindow`. */
const longestStepSeconds = 300;
const stepsPerWindow = 24;

/** The totals of one day of a window. */
export interface CountedDay {
  /** The totals by all dimensions but the day. */
  readonly parts: readonly TotalsPart[];
  readonly coveredSeconds: number;
  readonly clusters: readonly string[];
  readonly isUnpricedKnown: boolean;
}

/** A day, or the reason why it is not known. */
type DayResult = { readonly ok: true; readonly day: CountedDay } | Failure;

/** Queries the totals of one day, or of a part of it. */
export async function totalsOfDay(
  client: PrometheusClient,
  scope: SeriesScope,
  chunk: Chunk,
  question: TotalsQuestion,
): Promise<DayResult> {
  const readers = await segmentsOfDay(client, scope, chunk);
  if (!readers.ok) return readers;
  const { segments, clusters } = readers;
  const parts: TotalsPart[] = [];
  let isUnpricedKnown = true;
  for (const segment of segments) {
    const found = await partsOf(client, scope, segment, question);
    if (!found.ok) return found;
    for (const part of found.parts) parts.push(part);
    isUnpricedKnown &&= found.isUnpricedKnown;
  }
  const coveredSeconds = segments.reduce((sum, segment) => sum + segment.coveredSeconds, 0);
  const length = chunk.to - chunk.from;
  return { ok: true, day: { parts, coveredSeconds: Math.min(length, coveredSeconds), clusters, isUnpricedKnown } };
}

/**
 * Finds which process's counters are read at which times of one day, and the clusters of the day. There are no segments if
 * nothing covers it.
 */
export async function segmentsOfDay(
  client: PrometheusClient,
  scope: SeriesScope,
  chunk: Chunk,
): Promise<
  { readonly ok: true; readonly segments: readonly Segment[]; readonly clusters: readonly string[] } | Failure
> {
  const covered = await client.instant(coveredQuery(scope, chunk.to - chunk.from), chunk.to);
  if (!covered.ok) return covered;
  const clusters = [...new Set(covered.series.map(({ labels }) => labelIn(labels, "cluster")))];
  if (clusters.length === 0) return { ok: true, segments: [], clusters };
  const readers = await readersOf(client, scope, chunk, covered.series);
  return readers.ok ? { ...readers, clusters } : readers;
}

/**
 * Finds the processes whose counters are read. Most days have one process after the other; only where more time was covered
 * than passed, the course of the day is queried.
 */
async function readersOf(
  client: PrometheusClient,
  scope: SeriesScope,
  { from, to }: Chunk,
  covered: readonly AnsweredSeries[],
): Promise<{ readonly ok: true; readonly segments: readonly Segment[] } | Failure> {
  const length = to - from;
  const all = covered.reduce((sum, { points }) => sum + (points[0]?.[1] ?? 0), 0);
  const everybody = { from, to, process: null, coveredSeconds: Math.min(length, all) };
  if (covered.length < 2 || all <= overlapRatio * length) return { ok: true, segments: [everybody] };
  const step = Math.min(longestStepSeconds, Math.max(1, Math.ceil(length / stepsPerWindow)));
  const last = from + step * Math.ceil(length / step);
  const course = await client.range(coveredQuery(scope, step), from + step, last, step);
  if (!course.ok) return course;
  return { ok: true, segments: chooseReaders(course.series.map(processOf), from, to, step) };
}

/** Keeps the labels that identify a process: all that the server gave it, and none of Fairlead's own. */
function processOf({ labels, points }: AnsweredSeries): AnsweredSeries {
  const { cluster: _own, __name__: _name, ...process } = labels;
  return { labels: process, points };
}

async function partsOf(
  client: PrometheusClient,
  scope: SeriesScope,
  { from, to, process }: Segment,
  question: TotalsQuestion,
): Promise<{ readonly ok: true; readonly parts: readonly TotalsPart[]; readonly isUnpricedKnown: boolean } | Failure> {
  const seconds = to - from;
  const ask = (counter: TotalsCounter) => client.instant(growthQuery(counter, scope, process, question, seconds), to);
  const isCounted = isUnpricedCounted(question);
  const [gpuTime, cost, unpriced] = await Promise.all([
    ask("fairlead_gpu_seconds_total"),
    ask("fairlead_cost_total"),
    isCounted ? client.instant(unpricedQuery(scope, process, question, seconds), to) : nothing,
  ]);
  if (!gpuTime.ok) return gpuTime;
  if (!cost.ok) return cost;
  if (!unpriced.ok) return unpriced;
  const dimensions = question.by.filter((name) => name !== "day");
  const valuesOf = (labels: AnsweredSeries["labels"]): readonly string[] =>
    dimensions.map((dimension) => valueFrom(dimension, labelIn(labels, labelOf[dimension])));
  const partsFrom = (
    series: readonly AnsweredSeries[],
    make: (amount: number, labels: AnsweredSeries["labels"]) => Omit<TotalsPart, "values">,
  ): readonly TotalsPart[] =>
    series.flatMap(({ labels, points }) => {
      const amount = points[0]?.[1] ?? 0;
      return amount > 0 ? [{ values: valuesOf(labels), ...make(amount, labels) }] : [];
    });
  const parts = [
    ...partsFrom(gpuTime.series, (gpuSeconds) => ({ gpuSeconds })),
    ...partsFrom(cost.series, (amount, labels) => ({ costs: [[labelIn(labels, "currency"), amount]] })),
    ...partsFrom(unpriced.series, (unpricedGpuSeconds) => ({ unpricedGpuSeconds })),
  ];
  // If there are neither, the scraped version did not know prices.
  const hasPrices = gpuTime.series.length === 0 || cost.series.length + unpriced.series.length > 0;
  return { ok: true, parts, isUnpricedKnown: isCounted && hasPrices };
}
