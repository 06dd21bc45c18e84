import type { FieldConfig, Options } from "@grafana/grafana-foundation-sdk/statetimeline";
import type { Plain } from "../grafana/plain.ts";
import type { ValueMappingJson } from "../grafana/types.ts";
import { type Colour, colours } from "./colours.ts";
import { descriptionOf, fieldDefaults, type PanelDraft, type PanelTexts } from "./draft.ts";
import { type Shown, targetsOf } from "./shown.ts";

/** A range of values and its name: `from` is inclusive, `to` exclusive, and `null` means no bound. */
export interface State {
  readonly from: number | null;
  readonly to: number | null;
  readonly text: string;
  readonly colour: Colour;
}

export interface StateTimelinePanel extends Omit<PanelTexts, "levels"> {
  readonly shows: readonly Shown[];
  readonly states: readonly State[];
}

/** The state of each series over time, by name and colour. */
export function stateTimeline(panel: StateTimelinePanel): PanelDraft {
  const { title, size, shows, states } = panel;
  return {
    type: "state-timeline",
    title,
    description: descriptionOf(panel),
    size,
    targets: targetsOf(shows, "range"),
    options: {
      showValue: "auto",
      rowHeight: 0.9,
      mergeValues: true,
      alignValue: "left",
      legend: { displayMode: "list", placement: "bottom", showLegend: true, calcs: [] },
      tooltip: { mode: "single", sort: "none" },
    } satisfies Plain<Options>,
    fieldConfig: {
      defaults: {
        ...fieldDefaults(panel),
        mappings: states.map(mapping),
        color: { mode: "thresholds" },
        custom: { lineWidth: 0, fillOpacity: 80, spanNulls: false, insertNulls: false } satisfies Plain<FieldConfig>,
      },
      overrides: [],
    },
  };
}

// Grafana includes both ends of a range, and uses the first range that fits.
function mapping({ from, to, text, colour }: State, index: number): ValueMappingJson {
  const upTo = to === null ? null : to - Number.EPSILON * Math.max(1, Math.abs(to));
  return { type: "range", options: { from, to: upTo, result: { text, color: colours[colour], index } } };
}
