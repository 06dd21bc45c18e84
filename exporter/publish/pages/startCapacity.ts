import type { Analysis } from "../../analysis/analysis.ts";
import type { IdleKind } from "../../model/idleKinds.ts";
import { type PoolRow, poolRows } from "../overview/poolRows.ts";
import { plainText, wholeGpus } from "../terminal/columns.ts";
import { idleSummaries } from "../terminal/idleNodeLines.ts";
import { blockedTexts, fitText } from "../terminal/placementLines.ts";
import { gpuBar } from "./gpuBar.ts";
import { type Html, html, moreLink } from "./html.ts";
import { listPath, nameLink, nameLinks, workloadNamedLink } from "./links.ts";

const shownPools = 30;

/** Where the GPUs are: each pool as a bar whose parts add up, and what would still fit there. */
export function poolSection(analysis: Analysis): Html {
  const { rows, physicalGpus } = poolRows(analysis);
  const shown = rows.toSorted((one, other) => other.physicalGpus - one.physicalGpus).slice(0, shownPools);
  const rest = rows.length - shown.length;
  const fits = new Map(analysis.placement.pools.map((pool) => [pool.pool, fitText(pool)] as const));
  return html`<section id="pools"><h2>Where the GPUs are (${wholeGpus(physicalGpus)} in all)</h2>
${rows.length === 0 ? html`<p>No GPUs were found.</p>` : shown.map((row) => poolHtml(row, fits.get(row.pool)))}${rest > 0 ? html`<p>${rest} smaller pools: <a href="/api/v1/pools">all pools as JSON</a></p>` : html``}</section>
`;
}

function poolHtml({ pool, physicalGpus, parts }: PoolRow, fits: string | undefined): Html {
  const name = plainText(pool, 100);
  return html`<div id="pool-${encodeURIComponent(pool.toWellFormed())}"><h3>${name}: ${wholeGpus(physicalGpus)} GPUs</h3>
${gpuBar(parts, physicalGpus, name)}${fits === undefined ? html`` : html`<p class="next">What fits now: ${fits}.</p>`}</div>
`;
}

const shownBlocked = 5;

/** Work that waits although enough GPUs are free; empty where there is none. */
export function blockedSection(analysis: Analysis): Html {
  if (analysis.blocked.work.length === 0) return html``;
  const links = nameLinks(analysis);
  const items = blockedTexts(analysis, shownBlocked).map(
    ({ name, text }) =>
      html`<li class="warning"><strong>${workloadNamedLink(name, links)}</strong> ${links.inText(text)}</li>\n`,
  );
  const rest = analysis.blocked.work.length - items.length;
  return html`<section id="blocked"><h2>Blocked although enough is free</h2>
<ul class="problems">${items}</ul>${moreLink(rest, "/api/v1/blocked", "all blocked work as JSON")}</section>
`;
}

const shownNodes = 12;

/** Nodes that run for nobody or for nothing, each kind with its nodes and its next step; empty where there are none. */
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

/** Idle nodes of one kind, those that are idle for the longest first. */
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
