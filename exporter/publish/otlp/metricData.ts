import { type Attributes, type HrTime, ValueType } from "@opentelemetry/api";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type MetricDescriptor,
} from "@opentelemetry/sdk-metrics";
import type { Family } from "../family.ts";
import { ucumUnits } from "./units.ts";

/** When the values were true. */
export interface PointTimes {
  /** When the counters were 0: the start of the process, seconds since the epoch. */
  readonly startedAt: number;
  /** When the values were taken, seconds since the epoch. */
  readonly at: number;
}

/**
 * One family in the data model of OpenTelemetry. Gauges are gauges; counters are monotonic cumulative sums that began
 * with the process. Names are those of `/metrics`, `_total` included.
 */
export function toMetricData(family: Family, points: DataPoint<number>[]): MetricData {
  const descriptor: MetricDescriptor = {
    name: family.name,
    description: family.help,
    unit: ucumUnits.get(family.name) ?? "",
    valueType: ValueType.DOUBLE,
  };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE, dataPoints: points };
  return family.type === "counter"
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true }
    : { ...common, dataPointType: DataPointType.GAUGE };
}

/** The points of a family's series from index `from` up to `to`, exclusive. */
export function toDataPoints(family: Family, times: PointTimes, from: number, to: number): DataPoint<number>[] {
  const endTime = toHrTime(times.at);
  const startTime: HrTime = family.type === "counter" ? toHrTime(Math.min(times.startedAt, times.at)) : [0, 0];
  return family.series.slice(from, to).map(({ labelValues, value }) => {
    const attributes: Attributes = {};
    for (const [index, label] of family.labelNames.entries()) attributes[label] = labelValues[index] ?? "";
    return { startTime, endTime, attributes, value };
  });
}

function toHrTime(seconds: number): HrTime {
  const whole = Math.floor(seconds);
  return [whole, Math.round((seconds - whole) * 1e9)];
}
