import { applyNullInsertThreshold, type DataFrame, FieldType } from "@grafana/data";
import { LegendDisplayMode, type VizLegendOptions } from "@grafana/schema";
import { TimeSeries } from "@grafana/ui";
import type { DrawnPanel } from "./drawnPanel.ts";
import { flag, numberOption, oneOf, part, texts } from "./option.ts";

/** The legend of a chart, from the options of a panel. */
export function legendOf(options: Readonly<Record<string, unknown>>): VizLegendOptions {
  const legend = part(options, "legend");
  const width = numberOption(legend, "width");
  return {
    displayMode: oneOf(legend, "displayMode", [
      LegendDisplayMode.List,
      LegendDisplayMode.Table,
      LegendDisplayMode.Hidden,
    ]),
    placement: oneOf(legend, "placement", ["bottom", "right"]),
    showLegend: flag(legend, "showLegend", true),
    calcs: [...texts(legend, "calcs")],
    ...(width === undefined ? {} : { width }),
    ...(typeof legend.sortBy === "string" ? { sortBy: legend.sortBy, sortDesc: legend.sortDesc === true } : {}),
  };
}

const isDrawn = (frame: DataFrame): boolean =>
  frame.length > 0 &&
  frame.fields.some(({ type }) => type === FieldType.time) &&
  frame.fields.some(({ type }) => type === FieldType.number);

/** Lines, areas and bars over time, by Grafana's `TimeSeries`. */
export function TimeSeriesPanel({ panel, frames, width, height, timeRange }: DrawnPanel) {
  // The library's chart inserts gaps only into its first series.
  const withGaps = frames.filter(isDrawn).map((frame) => applyNullInsertThreshold({ frame }));
  return (
    <TimeSeries
      frames={withGaps}
      structureRev={1}
      width={width}
      height={height}
      timeRange={timeRange}
      timeZone="utc"
      legend={legendOf(panel.options)}
      options={panel.options}
    />
  );
}
