import { type DataFrame, type Field, FieldType } from "@grafana/data";
import type { AnsweredSeries } from "./askPrometheus.ts";
import type { Target } from "./dashboardJson.ts";

const field = (name: string, type: FieldType, values: readonly unknown[], more: Partial<Field> = {}): Field => ({
  name,
  type,
  config: {},
  values: [...values],
  ...more,
});

function timeField(times: readonly number[], stepSeconds: number | null): Field {
  // With the interval, a chart leaves a gap where samples are missing.
  return field("Time", FieldType.time, times, stepSeconds === null ? {} : { config: { interval: stepSeconds * 1000 } });
}

const frame = (refId: string, fields: Field[], more: Partial<DataFrame> = {}): DataFrame => ({
  refId,
  fields,
  length: fields[0]?.values.length ?? 0,
  ...more,
});

/** The name of a series: by the target's `legendFormat`, else as PromQL writes it. */
function nameOf(labels: Readonly<Record<string, string>>, { legendFormat = "" }: Target): string {
  if (legendFormat !== "" && legendFormat !== "__auto")
    return legendFormat.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label: string) => labels[label] ?? label);
  const { __name__: name = "", ...others } = labels;
  const inside = Object.entries(others).map(([label, value]) => `${label}="${value}"`);
  return inside.length > 0 ? `${name}{${inside.join(", ")}}` : name || "Value";
}

function timeSeriesFrames(series: readonly AnsweredSeries[], target: Target, stepSeconds: number | null): DataFrame[] {
  return series.map(({ labels, points }) => {
    const config = { displayNameFromDS: nameOf(labels, target) };
    const values = points.map(([, value]) => (Number.isNaN(value) ? null : value));
    const value = field("Value", FieldType.number, values, { labels: { ...labels }, config });
    const fields = [
      timeField(
        points.map(([at]) => at),
        stepSeconds,
      ),
      value,
    ];
    return frame(target.refId, fields, { name: config.displayNameFromDS });
  });
}

/** One frame with a column for each label, as Grafana makes it for `format: table`. */
function tableFrame(series: readonly AnsweredSeries[], target: Target, tables: number): DataFrame[] {
  if (series.length === 0) return [];
  const rows = series.flatMap(({ labels, points }) => points.map(([at, value]) => ({ labels, at, value })));
  const names = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].sort();
  const fields = [
    timeField(
      rows.map(({ at }) => at),
      null,
    ),
    ...names.map((name) =>
      field(
        name,
        FieldType.string,
        rows.map(({ labels }) => labels[name] ?? ""),
        { config: { filterable: true } },
      ),
    ),
    field(
      tables > 1 ? `Value #${target.refId}` : "Value",
      FieldType.number,
      rows.map(({ value }) => value),
    ),
  ];
  return [frame(target.refId, fields)];
}

/** The counts of each bucket, lowest first, from cumulative buckets (`le`). */
function bucketFrame(series: readonly AnsweredSeries[], target: Target, stepSeconds: number | null): DataFrame[] {
  const bound = ({ labels }: AnsweredSeries): number => Number((labels.le ?? "").replace("+Inf", "Infinity"));
  const buckets = series.toSorted((a, b) => bound(a) - bound(b));
  const times = [...new Set(buckets.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  const cumulative = buckets.map(({ points }) => new Map(points));
  const fields = buckets.map(({ labels }, i) => {
    const values = times.map((at) => {
      const here = cumulative[i]?.get(at);
      return here === undefined ? null : Math.max(0, here - (i === 0 ? 0 : (cumulative[i - 1]?.get(at) ?? 0)));
    });
    const name = labels.le ?? "";
    return field(name, FieldType.number, values, { labels: { ...labels }, config: { displayNameFromDS: name } });
  });
  return times.length === 0 ? [] : [frame(target.refId, [timeField(times, stepSeconds), ...fields])];
}

/**
 * The frames that Grafana would make of an answer of Prometheus. `tables`: the number of targets of the panel that are shown as
 * a table.
 */
export function framesOf(
  series: readonly AnsweredSeries[],
  target: Target,
  stepSeconds: number | null,
  tables: number,
): DataFrame[] {
  if (target.format === "table") return tableFrame(series, target, tables);
  if (target.format === "heatmap") return bucketFrame(series, target, stepSeconds);
  return timeSeriesFrames(series, target, stepSeconds);
}
