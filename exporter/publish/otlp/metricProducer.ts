import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricDescriptor,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { definitionOf, type MetricName, metricNames } from "../../catalogue/catalogue.ts";
import type { Unit } from "../../catalogue/metric.ts";
import { buildFamilies, type PageLimits } from "../families.ts";
import type { Family, Series } from "../family.ts";
import { type Health, staleAfterIntervals } from "../health.ts";
import type { Publication } from "../publication.ts";
import type { ExportFault } from "./exportTally.ts";

/** What the exporter reads; all of it is at hand. */
export interface PublishedMetrics {
  /** What the last complete cycle left; `null` before the first one. */
  readonly latest: () => Publication | null;
  readonly health: () => Health;
  readonly limits: PageLimits;
  /** The present time, seconds since the epoch. */
  readonly now: () => number;
}

/** One export of all series, which takes several requests. */
export interface ExportRound {
  /** Until when its values count as the present, seconds since the epoch. */
  readonly freshUntil: number;
  /** How many points have neither been exported nor failed to be. */
  pointsLeft: number;
  /** The first fault; `null` if there was none. */
  fault: ExportFault | null;
  /** Set when the endpoint cannot take anything now, so that the round's other requests are spared. */
  endpointDown: boolean;
}

/**
 * Hands the families of the last cycle to the SDK as they are. Instruments are not used: the SDK folds everything above 2,000
 * series of one into a single overflow point. A series that is gone is not sent; once the last cycle is too old to be the
 * present, only Fairlead's own health is sent.
 */
export function createMetricProducer(
  source: PublishedMetrics,
  scope: { readonly name: string; readonly version: string },
  onRound: (round: ExportRound) => void,
): MetricProducer {
  return {
    collect: async () => {
      const { families, times } = currentFamilies(source);
      onRound({
        freshUntil: times.at + staleAfterIntervals * source.health().intervalSeconds,
        pointsLeft: families.reduce((sum, family) => sum + family.series.length, 0),
        fault: null,
        endpointDown: false,
      });
      const metrics = families.map((family) => toMetricData(family, times));
      const scopeMetrics = metrics.length === 0 ? [] : [{ scope, metrics }];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

function currentFamilies(source: PublishedMetrics): {
  readonly families: readonly Family[];
  readonly times: PointTimes;
} {
  const health = source.health();
  const latest = source.latest();
  const now = source.now();
  const at = latest?.analysis.snapshot.at ?? null;
  if (latest !== null && at !== null && now - at <= staleAfterIntervals * health.intervalSeconds) {
    return { families: latest.families, times: { startedAt: health.startedAt, at } };
  }
  return {
    families: buildFamilies({ analysis: null, health, limits: source.limits }).families,
    times: { startedAt: health.startedAt, at: now },
  };
}

/** The times of the points of a family. */
interface PointTimes {
  /** When the counters were 0: the start of the process, seconds since the epoch. */
  readonly startedAt: number;
  /** When the values were taken, seconds since the epoch. */
  readonly at: number;
}

/**
 * One family in the data model of OpenTelemetry. Gauges are gauges, counters are monotonic cumulative sums, and histograms are
 * cumulative; counters and histograms began with the process. Names are those of `/metrics`, `_total` included.
 */
export function toMetricData(family: Family, times: PointTimes): MetricData {
  const descriptor: MetricDescriptor = {
    name: family.name,
    description: family.help,
    unit: ucumUnits.get(family.name) ?? "",
    valueType: ValueType.DOUBLE,
  };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const endTime = toHrTime(times.at);
  const startTime: HrTime = family.type === "gauge" ? [0, 0] : toHrTime(Math.min(times.startedAt, times.at));
  const pointOf = <Value>({ labelValues }: Series, value: Value): DataPoint<Value> => {
    const attributes: Attributes = {};
    for (const [index, label] of family.labelNames.entries()) attributes[label] = labelValues[index] ?? "";
    return { startTime, endTime, attributes, value };
  };
  const { bounds } = family;
  if (bounds !== undefined) {
    const dataPoints = family.series.map((series) => pointOf(series, toHistogram(series, bounds)));
    return { ...common, dataPoints, dataPointType: DataPointType.HISTOGRAM };
  }
  const dataPoints = family.series.map((series) => pointOf(series, series.value));
  return family.type === "counter"
    ? { ...common, dataPoints, dataPointType: DataPointType.SUM, isMonotonic: true }
    : { ...common, dataPoints, dataPointType: DataPointType.GAUGE };
}

/**
 * The UCUM code of a unit, and the word for it in the name of a Prometheus metric. A code is sent only with a name that has the
 * word. Otherwise, receivers that append a missing word would give the series a name that `/metrics` does not have
 * (docs/decisions/0007).
 */
const spelled: Readonly<Partial<Record<Unit, { readonly code: string; readonly word: string }>>> = {
  seconds: { code: "s", word: "seconds" },
  bytes: { code: "By", word: "bytes" },
  watts: { code: "W", word: "watts" },
  joules: { code: "J", word: "joules" },
  ratio: { code: "1", word: "ratio" },
};

/** UCUM annotations: they say what is counted, and no receiver puts them into a name. */
const annotated: Readonly<Partial<Record<Unit, string>>> = {
  gpus: "{gpu}",
  nodes: "{node}",
  gpu_seconds: "s{gpu}",
  node_seconds: "s{node}",
};

/** The code of a metric's unit in the Unified Code for Units of Measure; empty where there is none. */
export function ucumUnit(name: string, unit: Unit): string {
  const word = spelled[unit];
  if (word !== undefined) return name.split("_").includes(word.word) ? word.code : "";
  return annotated[unit] ?? "";
}

/** The UCUM codes of the catalogue's metrics, by the name of the metric. */
export const ucumUnits: ReadonlyMap<string, string> = new Map(
  metricNames.map((name: MetricName) => [name, ucumUnit(name, definitionOf(name).unit)]),
);

/**
 * Turns a series into a histogram of OpenTelemetry, whose buckets count their own values alone; those of Prometheus count all
 * values up to their bound.
 */
function toHistogram({ value, histogram }: Series, bounds: readonly number[]): Histogram {
  const cumulative = histogram?.buckets ?? [];
  const counts = [...bounds, null].map((_, i) => (cumulative[i] ?? value) - (cumulative[i - 1] ?? 0));
  const sum = histogram?.sum;
  return { buckets: { boundaries: [...bounds], counts }, count: value, ...(sum === undefined ? {} : { sum }) };
}

function toHrTime(seconds: number): HrTime {
  const whole = Math.floor(seconds);
  return [whole, Math.round((seconds - whole) * 1e9)];
}
