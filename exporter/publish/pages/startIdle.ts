import type { Analysis } from "../../analysis/analysis.ts";
import type { IdleKind } from "../../model/idleKinds.ts";
import { idleSummaries } from "../terminal/idleNodeLines.ts";
import { type Html, html } from "./html.ts";
import { listPath, nameLink } from "./links.ts";

const shownNodes = 12;

/** Nodes that run for nobody or for nothing, each kind with its nodes and its next step; nothing where there are none. */
export function idleSection(analysis: Analysis): Html {
  const summaries = idleSummaries(analysis);
  if (summaries.length === 0) return html``;
  const items = summaries.map(
    ({ kind, text, nextStep }) =>
      html`<li class="warning"><strong>${kind}</strong> ${text}: ${nodesOf(kind, analysis)}<br><span class="next">Next: ${nextStep}</span></li>\n`,
  );
  return html`<section id="idle"><h2>Idle nodes</h2>
<ul class="problems">${items}</ul></section>
`;
}

/** Idle for the longest first. */
function nodesOf(kind: IdleKind, { idleNodes, snapshot }: Analysis): Html {
  const own = idleNodes.nodes.filter((one) => one.kind === kind && !idleNodes.warm.has(one.node));
  const longest = own.toSorted((one, other) => one.since - other.since);
  const names = longest.slice(0, shownNodes).flatMap(({ node }, i) => {
    const name = snapshot.nodes[node]?.name;
    return name === undefined ? [] : [html`${i === 0 ? "" : ", "}${nameLink("node", name)}`];
  });
  const rest = own.length - names.length;
  return html`${names}${rest > 0 ? html` and <a href="${listPath("node")}">${rest} more</a>` : html``}`;
}
