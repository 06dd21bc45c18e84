import { type Field, FieldType, formattedValueToString, getFieldDisplayName, getValueFormat } from "@grafana/data";
import * as schemes from "d3-scale-chromatic";
import { axisText, axisWordWidth, TimeAxis, timeAxisHeight } from "./axis.tsx";
import type { DrawnPanel } from "./drawnPanel.ts";
import { flag, numberOption, oneOf, part, textOption } from "./option.ts";

/** A row of cells: a bucket, or a series. */
interface Row {
  readonly name: string;
  readonly values: Field;
}

function colorsOf(options: Readonly<Record<string, unknown>>, isDark: boolean): (part: number) => string {
  const color = part(options, "color");
  if (oneOf(color, "mode", ["scheme", "opacity"]) === "opacity") {
    const fill = textOption(color, "fill") ?? "dark-orange";
    return (ratio) =>
      `color-mix(in srgb, ${fill.replace(/^(dark|semi-dark|light|super-light)-/, "")} ${Math.round(ratio * 100)}%, transparent)`;
  }
  const found: unknown = Object.entries(schemes).find(
    ([name]) => name === `interpolate${textOption(color, "scheme") ?? "Oranges"}`,
  )?.[1];
  // A scheme runs from light to dark, and is reversed on a dark page, as Grafana does by default.
  const isTurned = flag(color, "reverse", false) !== isDark;
  return (ratio) => (typeof found === "function" ? String(found(isTurned ? 1 - ratio : ratio)) : "gray");
}

/** Cells by time and bucket. This is our own: Grafana's panel is not on npm. */
export function HeatmapPanel({ panel, frames, width, height, theme, timeRange }: DrawnPanel) {
  const { options } = panel;
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const time = frames[0]?.fields.find(({ type }) => type === FieldType.time);
  const times: readonly number[] = time?.values ?? [];
  const rows: readonly Row[] = frames.flatMap((frame) =>
    frame.fields
      .filter(({ type }) => type === FieldType.number)
      .map((values) => ({
        name: boundName(getFieldDisplayName(values, frame, frames), textOption(part(options, "yAxis"), "unit")),
        values,
      })),
  );
  const upward = flag(part(options, "yAxis"), "reverse", false) ? rows : rows.toReversed();
  const all = rows.flatMap(({ values }) =>
    values.values.filter((one): one is number => typeof one === "number" && one > 0),
  );
  const highest = Math.max(1e-12, ...all);
  const scheme = colorsOf(options, theme.isDark);
  const isExponential = part(options, "color").scale === "exponential";
  const exponent = isExponential ? (numberOption(part(options, "color"), "exponent") ?? 0.5) : 1;
  const color = (ratio: number): string => scheme(ratio ** exponent);
  const left = Math.min(width * 0.3, Math.max(0, ...rows.map(({ name }) => axisWordWidth(name, theme))) + 10);
  const legendHeight = flag(part(options, "legend"), "show", true) ? 26 : 0;
  const [plotWidth, plotHeight] = [width - left - 4, height - timeAxisHeight - legendHeight];
  const each = plotHeight / Math.max(1, rows.length);
  const step = times.length > 1 ? (times[1] ?? 0) - (times[0] ?? 0) : to - from;
  const cell = Math.max(1, (step / (to - from)) * plotWidth);
  // Names of rows that are too close together are left out, as on an axis.
  const every = Math.max(1, Math.ceil(14 / each));
  const unit =
    textOption(part(options, "cellValues"), "unit") ?? textOption(panel.fieldConfig.defaults, "unit") ?? "short";
  const word = (value: number): string => formattedValueToString(getValueFormat(unit)(value));
  return (
    <div style={{ position: "relative", width, height, overflow: "hidden" }}>
      {upward.map(({ name, values }, row) => (
        <div key={name}>
          {row % every === 0 ? (
            <span
              style={{
                position: "absolute",
                left: 0,
                width: left - 8,
                top: row * each,
                textAlign: "right",
                overflow: "hidden",
                textOverflow: "ellipsis",
                ...axisText(theme),
                lineHeight: `${each}px`,
              }}
            >
              {name}
            </span>
          ) : null}
          {times.map((at, i) => {
            const value: unknown = values.values[i];
            if (typeof value !== "number" || value <= 0) return null;
            const place = {
              left: left + ((at - from) / (to - from)) * plotWidth,
              width: Math.max(1, cell - 1),
              top: row * each,
              height: Math.max(1, each - 1),
            };
            return <div key={at} style={{ position: "absolute", ...place, background: color(value / highest) }} />;
          })}
        </div>
      ))}
      <TimeAxis from={from} to={to} left={left} width={plotWidth} top={plotHeight} theme={theme} />
      {legendHeight > 0 ? (
        <div
          style={{
            position: "absolute",
            top: height - legendHeight + 4,
            left,
            display: "flex",
            gap: 8,
            ...axisText(theme),
          }}
        >
          <span>{word(0)}</span>
          <span
            style={{
              width: 160,
              height: 10,
              marginTop: 5,
              background: `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(color).join(", ")})`,
            }}
          />
          <span>{word(highest)}</span>
        </div>
      ) : null}
    </div>
  );
}

/** The name of a bucket: its upper bound with the unit of the axis. */
function boundName(name: string, unit: string | undefined): string {
  const bound = Number(name);
  if (unit === undefined || name === "" || Number.isNaN(bound)) return name;
  return formattedValueToString(getValueFormat(unit)(bound));
}
