import type { Analysis } from "../../analysis/analysis.ts";
import { idleSummaries } from "../terminal/idleNodeLines.ts";
import { type Html, html } from "./html.ts";

/** Nodes that run for nobody or for nothing, each kind with its next step; nothing where there are none. */
export function idleNodeSection(analysis: Analysis | null): Html {
  const summaries = analysis === null ? [] : idleSummaries(analysis);
  if (summaries.length === 0) return html``;
  const items = summaries.map(
    ({ kind, text, nextStep }) =>
      html`<li class="warning"><a href="/api/v1/nodes?idle=${kind}"><strong>${kind}</strong></a> ${text}<br><span class="next">Next: ${nextStep}</span></li>\n`,
  );
  return html`<h2>Idle nodes</h2>
<ul class="problems">${items}</ul>`;
}
