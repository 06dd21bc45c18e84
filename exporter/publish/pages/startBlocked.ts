import type { Analysis } from "../../analysis/analysis.ts";
import { blockedTexts } from "../terminal/placementLines.ts";
import { type Html, html } from "./html.ts";
import { nameLinks, workloadNamedLink } from "./nameLinks.ts";

const shownBlocked = 5;

/** Work that waits although enough GPUs are free; nothing where there is none. */
export function blockedSection(analysis: Analysis): Html {
  if (analysis.blocked.work.length === 0) return html``;
  const links = nameLinks(analysis);
  const items = blockedTexts(analysis, shownBlocked).map(
    ({ name, text }) =>
      html`<li class="warning"><strong>${workloadNamedLink(name, links)}</strong> ${links.inText(text)}</li>\n`,
  );
  const rest = analysis.blocked.work.length - items.length;
  const more = rest > 0 ? html`<p>${rest} more: <a href="/api/v1/blocked">all blocked work as JSON</a></p>` : html``;
  return html`<section id="blocked"><h2>Blocked although enough is free</h2>
<ul class="problems">${items}</ul>${more}</section>
`;
}
