import type { Options } from "@grafana/grafana-foundation-sdk/bargauge";
import type { Plain } from "../grafana/plain.ts";
import { descriptionOf, fieldDefaults, type PanelDraft, type PanelTexts } from "./draft.ts";
import { type Shown, targetsOf } from "./shown.ts";

export interface BarGaugePanel extends PanelTexts {
  readonly shows: readonly Shown[];
}

/** A bar for each series, as of the end of the time range; its colour and its number have the same meaning. */
export function barGauge(panel: BarGaugePanel): PanelDraft {
  const { title, size, shows } = panel;
  return {
    type: "bargauge",
    title,
    description: descriptionOf(panel),
    size,
    targets: targetsOf(shows, "instant"),
    options: {
      displayMode: "basic",
      valueMode: "color",
      namePlacement: "auto",
      showUnfilled: true,
      sizing: "auto",
      minVizWidth: 8,
      minVizHeight: 16,
      maxVizHeight: 32,
      orientation: "horizontal",
      legend: { displayMode: "list", placement: "bottom", showLegend: false, calcs: [] },
      reduceOptions: { values: false, calcs: ["lastNotNull"], fields: "" },
    } satisfies Plain<Options>,
    fieldConfig: { defaults: { ...fieldDefaults(panel), color: { mode: "thresholds" } }, overrides: [] },
  };
}
