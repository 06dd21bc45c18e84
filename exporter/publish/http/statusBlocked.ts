import type { Analysis } from "../../analysis/analysis.ts";
import { blockedTexts } from "../terminal/placementLines.ts";
import { type Html, html } from "./html.ts";

const shown = 5;

/** Work that waits although enough GPUs are free; nothing where there is none. */
export function blockedSection(analysis: Analysis | null): Html {
  if (analysis === null || analysis.blocked.work.length === 0) return html``;
  const items = blockedTexts(analysis, shown).map(
    ({ name, text }) => html`<li class="warning"><strong>${name}</strong> ${text}</li>\n`,
  );
  const rest = analysis.blocked.work.length - items.length;
  const more = rest > 0 ? html`<p>${rest} more: <a href="/api/v1/blocked">/api/v1/blocked</a></p>` : html``;
  return html`<h2>Blocked although enough is free</h2>
<ul class="problems">${items}</ul>${more}`;
}
