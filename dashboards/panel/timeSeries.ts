import type { FieldConfig, Options } from "@grafana/grafana-foundation-sdk/timeseries";
import type { Plain } from "../grafana/plain.ts";
import { descriptionOf, fieldDefaults, type PanelDraft, type PanelTexts } from "./draft.ts";
import { colourOverrides, type Shown, targetsOf } from "./shown.ts";

export interface TimeSeriesPanel extends PanelTexts {
  readonly shows: readonly Shown[];
  /** The style of the series; areas and bars are stacked. */
  readonly style?: "line" | "area" | "bars";
  /** Whether the levels are drawn as lines. */
  readonly limits?: boolean;
  /** `table`: beside the graph with the last, mean and largest value; `list`: below the graph. */
  readonly legend?: "list" | "table" | "hidden";
}

/** Numbers over time. */
export function timeSeries(panel: TimeSeriesPanel): PanelDraft {
  const { title, size, shows, style = "line", limits = false, legend = "list" } = panel;
  const custom = {
    drawStyle: style === "bars" ? "bars" : "line",
    lineInterpolation: "linear",
    lineWidth: style === "bars" ? 0 : 1,
    fillOpacity: style === "line" ? 0 : 70,
    gradientMode: "none",
    showPoints: "auto",
    pointSize: 4,
    // A gap is time about which nothing is known.
    spanNulls: false,
    axisPlacement: "auto",
    axisLabel: "",
    axisSoftMin: 0,
    stacking: { mode: style === "line" ? "none" : "normal", group: "A" },
    thresholdsStyle: { mode: limits ? "dashed" : "off" },
  } satisfies Plain<FieldConfig>;
  return {
    type: "timeseries",
    title,
    description: descriptionOf(panel),
    size,
    targets: targetsOf(shows, "range"),
    options: {
      legend: {
        displayMode: legend === "table" ? "table" : "list",
        placement: legend === "table" ? "right" : "bottom",
        showLegend: legend !== "hidden",
        calcs: legend === "table" ? ["lastNotNull", "mean", "max"] : [],
      },
      tooltip: { mode: "multi", sort: "desc" },
    } satisfies Plain<Options>,
    fieldConfig: {
      defaults: { ...fieldDefaults(panel), color: { mode: "palette-classic" }, custom },
      overrides: colourOverrides(shows),
    },
  };
}
