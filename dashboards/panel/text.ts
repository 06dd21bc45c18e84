import type { Options } from "@grafana/grafana-foundation-sdk/text";
import type { Plain } from "../grafana/plain.ts";
import type { PanelDraft, Size } from "./draft.ts";

/** A panel of text in Markdown: what a page is for, how it counts, where to go next. */
export function text(panel: { readonly title: string; readonly markdown: string; readonly size: Size }): PanelDraft {
  return {
    type: "text",
    title: panel.title,
    description: "",
    size: panel.size,
    targets: [],
    options: { mode: "markdown", content: panel.markdown } satisfies Plain<Options>,
    fieldConfig: { defaults: {}, overrides: [] },
  };
}
