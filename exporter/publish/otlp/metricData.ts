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

/**
 * One family in the data model of OpenTelemetry. Gauges are gauges; counters are monotonic cumulative sums and histograms
 * cumulative, both began with the process. Names are those of `/metrics`, `_total` included.
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
