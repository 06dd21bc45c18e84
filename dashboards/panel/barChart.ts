import type { FieldConfig, Options } from "@grafana/grafana-foundation-sdk/barchart";
import type { Plain } from "../grafana/plain.ts";
import type { OverrideJson } from "../grafana/types.ts";
import { type Colour, colours } from "./colours.ts";
import { descriptionOf, fieldDefaults, type PanelDraft, type PanelTexts } from "./draft.ts";
import { entriesOf, type First, type Rows, rowTargets, rowTransformations } from "./rows.ts";

export interface BarChartPanel<Labels extends string> extends Rows<Labels>, PanelTexts {
  /** The label whose values are along the axis; it must have a title. */
  readonly along: NoInfer<Labels>;
  /** The most bars that are shown. */
  readonly first?: First;
  readonly stack?: "none" | "normal" | "percent";
  readonly orientation?: "horizontal" | "vertical";
  /** The colour of columns, by their title. */
  readonly colours?: Readonly<Record<string, Colour>>;
}

/** Bars side by side or stacked, one for each value of a label, as of the end of the time range. */
export function barChart<Labels extends string>(panel: BarChartPanel<Labels>): PanelDraft {
  const { title, size, along, stack = "none", orientation = "horizontal", first } = panel;
  const xField = entriesOf(panel.labels).find(([label]) => label === along)?.[1] ?? along;
  return {
    type: "barchart",
    title,
    description: descriptionOf(panel),
    size,
    targets: rowTargets(panel),
    options: {
      xField,
      orientation,
      xTickLabelRotation: 0,
      xTickLabelMaxLength: 24,
      stacking: stack,
      showValue: "auto",
      barWidth: 0.8,
      groupWidth: 0.8,
      legend: { displayMode: "list", placement: "bottom", showLegend: true, calcs: [] },
      tooltip: { mode: "multi", sort: "none" },
      fullHighlight: false,
    } satisfies Plain<Options>,
    fieldConfig: {
      defaults: {
        ...fieldDefaults(panel),
        color: { mode: "palette-classic" },
        custom: {
          lineWidth: 0,
          fillOpacity: 80,
          gradientMode: "none",
          axisPlacement: "auto",
        } satisfies Plain<FieldConfig>,
      },
      overrides: [
        // This gives a name to a bar whose label is empty, too.
        { matcher: { id: "byName", options: xField }, properties: [{ id: "noValue", value: "none" }] },
        ...Object.entries(panel.colours ?? {}).map(
          ([name, colour]): OverrideJson => ({
            matcher: { id: "byName", options: name },
            properties: [{ id: "color", value: { mode: "fixed", fixedColor: colours[colour] } }],
          }),
        ),
      ],
    },
    transformations: rowTransformations(panel, "left out", { first }),
  };
}
