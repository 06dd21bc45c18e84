import type { Analysis } from "../../analysis/analysis.ts";
import { type PoolRow, poolRows } from "../overview/poolRows.ts";
import { plainText, wholeGpus } from "../terminal/columns.ts";
import { fitText } from "../terminal/placementLines.ts";
import { gpuBar } from "./gpuBar.ts";
import { type Html, html } from "./html.ts";

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
