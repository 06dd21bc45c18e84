import type { FieldConfig, Options } from "@grafana/grafana-foundation-sdk/heatmap";
import type { Plain } from "../grafana/plain.ts";
import { descriptionOf, fieldDefaults, type PanelDraft, type PanelTexts } from "./draft.ts";
import { type Shown, targetsOf } from "./shown.ts";

export interface HeatmapPanel extends Omit<PanelTexts, "levels"> {
  /** Rising counts by the label `le`, with the legend `{{le}}`; or series, of which each is a row that its legend names. */
  readonly shows: Shown;
  /** `buckets`: the rows are upper bounds of a histogram; `series`: each series is a row. */
  readonly rows: "buckets" | "series";
  /** The unit of the rows' bounds: Grafana's id, such as `dthms`. */
  readonly rowUnit?: string;
}

/** Numbers over time (horizontal) and by size or name (vertical): the darker, the larger. */
export function heatmap(panel: HeatmapPanel): PanelDraft {
  const { title, size, shows, rows, rowUnit = "none", unit } = panel;
  return {
    type: "heatmap",
    title,
    description: descriptionOf(panel),
    size,
    targets: targetsOf([shows], rows === "buckets" ? "heatmap" : "range"),
    options: {
      calculate: false,
      color: {
        mode: "scheme",
        scheme: "Blues",
        fill: "blue",
        scale: "exponential",
        exponent: 0.5,
        steps: 32,
        reverse: false,
      },
      rowsFrame: { layout: rows === "buckets" ? "le" : "auto" },
      showValue: "never",
      cellGap: 1,
      cellValues: { unit: unit.id },
      yAxis: { axisPlacement: "left", unit: rowUnit, reverse: false },
      legend: { show: true },
      tooltip: { mode: "single", yHistogram: false, showColorScale: true },
      exemplars: { color: "rgba(255,0,255,0.7)" },
    } satisfies Plain<Options>,
    fieldConfig: {
      defaults: {
        ...fieldDefaults(panel),
        custom: { hideFrom: { legend: false, tooltip: false, viz: false } } satisfies Plain<FieldConfig>,
      },
      overrides: [],
    },
  };
}
