import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricDescriptor,
} from "@opentelemetry/sdk-metrics";
import type { Family, Series } from "../family.ts";
import { ucumUnits } from "./units.ts";

/** When the values were true. */
export interface PointTimes {
  /** When the counters were 0: the start of the process, seconds since the epoch. */
  readonly startedAt: number;
  /** When the values were taken, seconds since the epoch. */
  readonly at: number;
}

/** Points of one family: numbers, or the explicit buckets of histograms. */
export type FamilyPoints =
  | { readonly kind: "number"; readonly points: DataPoint<number>[] }
  | { readonly kind: "histogram"; readonly points: DataPoint<Histogram>[] };

/**
 * One family in the data model of OpenTelemetry. Gauges are gauges; counters are monotonic cumulative sums and histograms
 * cumulative, both began with the process. Names are those of `/metrics`, `_total` included.
 */
export function toMetricData(family: Family, times: PointTimes): MetricData {
  const all = noPoints(family);
  addPoints(all, family, times, 0, family.series.length);
  return metricDataOf(family, all);
}

/** The metric of these points. */
export function metricDataOf(family: Family, { kind, points }: FamilyPoints): MetricData {
  const descriptor: MetricDescriptor = {
    name: family.name,
    description: family.help,
    unit: ucumUnits.get(family.name) ?? "",
    valueType: ValueType.DOUBLE,
  };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  if (kind === "histogram") return { ...common, dataPoints: points, dataPointType: DataPointType.HISTOGRAM };
  return family.type === "counter"
    ? { ...common, dataPoints: points, dataPointType: DataPointType.SUM, isMonotonic: true }
    : { ...common, dataPoints: points, dataPointType: DataPointType.GAUGE };
}

/** No points yet, of the family's type. */
export function noPoints({ bounds }: Family): FamilyPoints {
  return bounds === undefined ? { kind: "number", points: [] } : { kind: "histogram", points: [] };
}

/** Adds the points of a family's series from index `from` up to `to`, exclusive. */
export function addPoints(all: FamilyPoints, family: Family, times: PointTimes, from: number, to: number): void {
  const endTime = toHrTime(times.at);
  const startTime: HrTime = family.type === "gauge" ? [0, 0] : toHrTime(Math.min(times.startedAt, times.at));
  const common = ({ labelValues }: Series) => {
    const attributes: Attributes = {};
    for (const [index, label] of family.labelNames.entries()) attributes[label] = labelValues[index] ?? "";
    return { startTime, endTime, attributes };
  };
  for (const series of family.series.slice(from, to)) {
    if (all.kind === "number") all.points.push({ ...common(series), value: series.value });
    else all.points.push({ ...common(series), value: toHistogram(series, family.bounds ?? []) });
  }
}

/** OpenTelemetry counts in each bucket by itself; Prometheus in all up to its bound. */
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
