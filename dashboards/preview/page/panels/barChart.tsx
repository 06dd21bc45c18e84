import { formattedValueToString, getFieldDisplayName, getFieldSeriesColor } from "@grafana/data";
import { LegendDisplayMode } from "@grafana/schema";
import { VizLegend } from "@grafana/ui";
import { axisText, axisWordWidth, legendHeightFor, timeAxisHeight } from "./axis.tsx";
import { barsOf, categories, niceTicks } from "./bars.ts";
import type { DrawnPanel } from "./drawnPanel.ts";
import { numberOption, oneOf, textOption } from "./option.ts";
import { legendOf } from "./timeSeries.tsx";

/** Bars by category, beside each other or stacked. This is our own: Grafana's panel is not on npm. */
export function BarChartPanel(drawn: DrawnPanel) {
  const { panel, frames, width, height, theme } = drawn;
  const { options } = panel;
  const found = categories(frames, textOption(options, "xField"));
  if (found === null) return <p>no categories</p>;
  const { names, series, frame } = found;
  const stacking = oneOf(options, "stacking", ["none", "normal", "percent"]);
  const isStacked = stacking !== "none";
  const isAcross = oneOf(options, "orientation", ["auto", "horizontal", "vertical"]) === "horizontal";
  const bars = barsOf(found, stacking, theme);
  const [first] = series;
  const highest = Math.max(0, stacking === "percent" ? 1 : (first?.config.max ?? 0), ...bars.map(({ to }) => to));
  const lowest = Math.min(0, first?.config.min ?? 0, ...bars.map(({ to }) => to));
  const top = highest === lowest ? 1 : highest;
  const legend = legendOf(options);
  const isLegend = legend.showLegend && legend.displayMode !== LegendDisplayMode.Hidden;
  const legendWords = isLegend ? series.map((field) => getFieldDisplayName(field, frame)) : [];
  const legendHeight = legendHeightFor(legendWords, width, theme);
  const format = (value: number): string =>
    stacking === "percent"
      ? `${Math.round(value * 100)}%`
      : first?.display === undefined
        ? `${value}`
        : formattedValueToString(first.display(value));
  const ticks = niceTicks(top, lowest, isAcross ? width / 110 : height / 50);
  const words = isAcross ? names : ticks.map(format);
  const left = Math.min(width * 0.45, Math.max(0, ...words.map((word) => axisWordWidth(word, theme))) + 10);
  // The space is for the words beyond the longest bar.
  const beyond = isAcross ? Math.max(0, ...bars.map(({ word }) => axisWordWidth(word, theme))) + 8 : 4;
  const plot = {
    left,
    width: width - left - beyond,
    top: isAcross ? 2 : 16,
    height: height - timeAxisHeight - legendHeight - (isAcross ? 2 : 16),
  };
  const along = (value: number): number => ((value - lowest) / (top - lowest)) * (isAcross ? plot.width : plot.height);
  const each = (isAcross ? plot.height : plot.width) / Math.max(1, names.length);
  const thick = each * (numberOption(options, "groupWidth") ?? 0.7);
  const lanes = isStacked ? 1 : Math.max(1, series.length);
  const label = { ...axisText(theme), position: "absolute", overflow: "hidden", textOverflow: "ellipsis" } as const;
  const line = { position: "absolute", background: theme.colors.border.weak } as const;
  const isWritten =
    oneOf(options, "showValue", ["auto", "always", "never"]) !== "never" && (!isStacked || series.length === 1);
  return (
    <div style={{ position: "relative", width, height, overflow: "hidden" }}>
      {ticks.map((tick) =>
        isAcross ? (
          <div key={tick}>
            <div style={{ ...line, left: plot.left + along(tick), top: plot.top, width: 1, height: plot.height }} />
            <span
              style={{
                ...label,
                left: plot.left + along(tick) - 50,
                width: 100,
                top: plot.top + plot.height,
                textAlign: "center",
              }}
            >
              {format(tick)}
            </span>
          </div>
        ) : (
          <div key={tick}>
            <div
              style={{
                ...line,
                left: plot.left,
                top: plot.top + plot.height - along(tick),
                width: plot.width,
                height: 1,
              }}
            />
            <span
              style={{
                ...label,
                left: 0,
                width: left - 8,
                top: plot.top + plot.height - along(tick) - 10,
                textAlign: "right",
              }}
            >
              {format(tick)}
            </span>
          </div>
        ),
      )}
      {names.map((name, i) =>
        isAcross ? (
          <span
            key={name}
            style={{
              ...label,
              left: 0,
              width: left - 8,
              top: plot.top + i * each,
              lineHeight: `${each}px`,
              textAlign: "right",
            }}
          >
            {name}
          </span>
        ) : (
          <span
            key={name}
            style={{
              ...label,
              left: plot.left + i * each,
              width: each,
              top: plot.top + plot.height,
              textAlign: "center",
            }}
          >
            {name}
          </span>
        ),
      )}
      {bars.map(({ category, series: of, from, to, color, word }) => {
        const [begin, end] = [along(Math.min(from, to)), along(Math.max(from, to))];
        const across = category * each + (each - thick) / 2 + (isStacked ? 0 : (of * thick) / lanes);
        const size = (thick / lanes) * 0.95;
        const place = isAcross
          ? { left: plot.left + begin, width: end - begin, top: plot.top + across, height: size }
          : { left: plot.left + across, width: size, top: plot.top + plot.height - end, height: end - begin };
        const written = isAcross
          ? { left: plot.left + end + 4, top: plot.top + across, lineHeight: `${size}px` }
          : {
              left: plot.left + across - 40 + size / 2,
              width: 80,
              textAlign: "center" as const,
              top: plot.top + plot.height - end - 18,
            };
        const fits = isAcross ? size > 13 : axisWordWidth(word, theme) < (isStacked ? each : thick / lanes + 12);
        return (
          <div key={`${category} ${of}`}>
            <div style={{ position: "absolute", background: color, opacity: 0.85, ...place }} />
            {isWritten && fits ? (
              <span style={{ ...axisText(theme), position: "absolute", ...written }}>{word}</span>
            ) : null}
          </div>
        );
      })}
      {isLegend ? (
        <div style={{ position: "absolute", top: height - legendHeight, left: 0, width }}>
          <VizLegend
            items={series.map((field) => ({
              label: getFieldDisplayName(field, frame),
              color: getFieldSeriesColor(field, theme).color,
              yAxis: 1,
            }))}
            displayMode={LegendDisplayMode.List}
            placement="bottom"
          />
        </div>
      ) : null}
    </div>
  );
}
