import type { Expression } from "../../exporter/catalogue/promql.ts";
import type { OverrideJson, TargetJson } from "../grafana/types.ts";
import { type Colour, colours } from "./colours.ts";

/** One query of a panel, and the name of its series. */
export interface Shown {
  readonly expr: string;
  readonly legend: string;
  readonly colour: Colour | null;
}

type Placeholders<Text> = Text extends `${string}{{${infer Label}}}${infer Rest}` ? Label | Placeholders<Rest> : never;

/**
 * Shows a query. In the legend, `{{label}}` is replaced by a label's value; a label that the result does not have does not
 * compile. With `colour`, all series of the query have that colour; without it, a palette by name or the panel's levels decide.
 */
export function shows<Labels extends string, const Legend extends string>(
  query: Expression<Labels>,
  legend: Legend & (Placeholders<Legend> extends Labels ? unknown : { readonly unknownLabel: Placeholders<Legend> }),
  colour: Colour | null = null,
): Shown {
  return { expr: query.text, legend, colour };
}

/** The name that Grafana gives to a query of a panel, by its index. */
export function refIdOf(index: number): string {
  return String.fromCharCode("A".charCodeAt(0) + index);
}

/** The queries of a panel: over the time range, or at its end. */
export function targetsOf(shown: readonly Shown[], kind: "range" | "instant" | "heatmap"): readonly TargetJson[] {
  return shown.map(({ expr, legend }, index) => ({
    refId: refIdOf(index),
    editorMode: "code",
    expr,
    legendFormat: legend,
    instant: kind === "instant",
    range: kind !== "instant",
    format: kind === "heatmap" ? "heatmap" : "time_series",
  }));
}

/** Fixed colours of queries that have one. */
export function colourOverrides(shown: readonly Shown[]): readonly OverrideJson[] {
  return shown.flatMap(({ colour }, index) =>
    colour === null
      ? []
      : [
          {
            matcher: { id: "byFrameRefID", options: refIdOf(index) },
            properties: [{ id: "color", value: { mode: "fixed", fixedColor: colours[colour] } }],
          },
        ],
  );
}
