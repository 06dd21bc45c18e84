import type { Options } from "@grafana/grafana-foundation-sdk/stat";
import type { Plain } from "../grafana/plain.ts";
import { descriptionOf, fieldDefaults, type PanelDraft, type PanelTexts, type Size } from "./draft.ts";
import { colourOverrides, type Shown, targetsOf } from "./shown.ts";

export interface StatPanel extends Omit<PanelTexts, "size"> {
  /** The size; by default four panels are beside each other. */
  readonly size?: Size;
  readonly shows: readonly Shown[];
  /** `trend`: with the line of the time range behind the number; `now`: only what is true at its end. */
  readonly kind?: "trend" | "now";
  /** `name` shows the legend in place of the number, for info metrics; `both` shows it beside the number. */
  readonly text?: "value" | "name" | "both";
}

/** One number, large; one for each series that a query finds. */
export function stat(panel: StatPanel): PanelDraft {
  const { title, size = [6, 4], shows, kind = "trend", text = "value" } = panel;
  return {
    type: "stat",
    title,
    description: descriptionOf(panel),
    size,
    targets: targetsOf(shows, kind === "trend" ? "range" : "instant"),
    options: {
      graphMode: kind === "trend" ? "area" : "none",
      colorMode: "value",
      justifyMode: "auto",
      textMode: ({ value: "auto", name: "name", both: "value_and_name" } as const)[text],
      wideLayout: true,
      showPercentChange: false,
      percentChangeColorMode: "standard",
      orientation: "auto",
      reduceOptions: { values: false, calcs: ["lastNotNull"], fields: "" },
    } satisfies Plain<Options>,
    fieldConfig: {
      defaults: { ...fieldDefaults(panel), color: { mode: "thresholds" } },
      overrides: colourOverrides(shows),
    },
  };
}
