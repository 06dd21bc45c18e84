import type { Analysis } from "../../analysis/analysis.ts";
import type { Problem } from "../../model/problem.ts";
import type { Advice } from "../../model/recommendation.ts";
import { counted, searchText } from "../advice/adviceWords.ts";
import { mainCurrency } from "../document/priceRecords.ts";
import type { FinishedStart } from "../front/finished.ts";
import { type Health, missingForReadiness } from "../health.ts";
import { listNames } from "../http/lists.ts";
import { clusterRow } from "../overview/poolRows.ts";
import { percent, utc, wholeGpus } from "../terminal/columns.ts";
import { money, priceTexts } from "../terminal/costText.ts";
import { type Html, html } from "./html.ts";
import { type NameLinks, nameLinks } from "./links.ts";
import { nowStyle } from "./nowStyle.ts";
import { pageFrame } from "./pageFrame.ts";
import { adviceItem } from "./recommendationArticle.ts";
import { blockedSection, idleSection, poolSection } from "./startCapacity.ts";
import { problemSection, sourceSection } from "./startProblems.ts";
import { queueSection } from "./startQueues.ts";
import { teamSection } from "./startTeams.ts";

/** What the start page is made from. */
export interface StartPageInput {
  readonly health: Health;
  readonly analysis: Analysis | null;
  /** The moment of `analysis`, seconds since the epoch; `null` without one. */
  readonly at: number | null;
  readonly advice: Advice;
  readonly problems: readonly Problem[];
  readonly telemetryPath: string;
}

/** The place of the notice. No text from outside can equal it, because all text is escaped before it is put into a page. */
const noticePlace = "<!--notice-->";

/** The start page: who holds what, where the GPUs are, what to do first, what is wrong, and where things are. */
export function renderStartPage(input: StartPageInput): FinishedStart {
  const { health, analysis, at, advice, problems, telemetryPath } = input;
  const links = nameLinks(analysis);
  const page = pageFrame({
    title: `Fairlead ${health.cluster}`,
    heading: `GPUs of cluster ${health.cluster}`,
    about: about(input),
    here: "/",
    styles: [nowStyle],
    refreshSeconds: health.intervalSeconds,
    body: html`${{ markup: noticePlace }}${analysis === null ? nothingYet(health) : numbers(analysis)}
${analysis === null ? html`` : html`${teamSection(analysis)}${poolSection(analysis)}`}${adviceSection(advice, links)}${problemSection(problems, links)}${analysis === null ? html`` : html`${queueSection(analysis, links)}${blockedSection(analysis)}${idleSection(analysis)}`}${sourceSection(health.sources)}<section id="places"><h2>Where things are</h2>
${places(telemetryPath)}</section>`,
    foot: html`<p>Fairlead ${health.version} only reads your cluster: it observes who holds the GPUs and whether they use them.</p>`,
  });
  const [before = "", after = ""] = page.split(noticePlace);
  return { at, before, after };
}

function about({ analysis, at }: StartPageInput): Html {
  if (analysis === null || at === null) return html``;
  const { nodes, physicalGpus, observed, signal } = clusterRow(analysis);
  const gpuText = `${wholeGpus(physicalGpus)} ${physicalGpus === 1 ? "GPU" : "GPUs"}`;
  const parts = [
    `${counted(nodes, "node")}, ${gpuText}`,
    ...(observed === null ? [] : [`telemetry of ${percent(observed)}`]),
    signal === null ? "no activity signal" : `signal ${signal}`,
    `as of ${utc(at)}`,
  ];
  return html`<p>${parts.join(" · ")}</p>${priceTexts(analysis).map((text) => html`<p>${text}</p>`)}`;
}

const nothingYet = (health: Health): Html =>
  html`<p class="warning">No answers yet: ${missingForReadiness(health).join("; ")}. The first ones come within ${health.intervalSeconds} s of the sources being read.</p>`;

function numbers(analysis: Analysis): Html {
  const physical = analysis.pools.reduce((sum, pool) => sum + pool.physicalGpus, 0);
  const allocated = analysis.pools.reduce((sum, pool) => sum + pool.allocated, 0);
  const active = analysis.teams.reduce((sum, team) => sum + team.active, 0);
  return html`<dl class="numbers">
<div><dt>physical GPUs</dt><dd>${wholeGpus(physical)}</dd></div>
<div><dt>allocated</dt><dd>${wholeGpus(allocated)}</dd></div>
<div><dt>active</dt><dd>${wholeGpus(active)}</dd></div>
${costTile(analysis)}</dl>`;
}

/** What all GPUs with a price cost per hour; empty where none has one. */
function costTile({ prices: { groups } }: Analysis): Html {
  const currency = mainCurrency(groups);
  if (currency === null) return html``;
  // The few groups add up to the same as all accounting entries.
  let [perHour, unpricedGpus] = [0, 0];
  for (const { price, physicalGpus } of groups) {
    if (price === null) unpricedGpus += physicalGpus;
    else if (price.currency === currency) perHour += price.perGpuHour * physicalGpus;
  }
  const more = unpricedGpus > 0 ? ` + ${wholeGpus(unpricedGpus)} GPUs unpriced` : "";
  return html`<div><dt>cost per hour${more}</dt><dd>${money(perHour, currency)}</dd></div>
`;
}

const shownAdvice = 3;

/** The recommendations with the most worth, and how many others there are. */
function adviceSection(advice: Advice, links: NameLinks): Html {
  const { recommendations } = advice;
  const open = recommendations.filter(({ state }) => state === "open");
  const items = open.slice(0, shownAdvice).map((one) => adviceItem(one, links));
  const all = open.length > shownAdvice ? `All ${open.length} recommendations` : "All about them, with their steps";
  const list =
    open.length === 0
      ? html`<p class="ok">Nothing is recommended.${searchText(advice)} <a href="/recommendations">What was looked at, and why</a></p>`
      : html`<ol class="problems">${items}</ol><p><a href="/recommendations">${all}</a></p>`;
  return html`<section id="advice"><h2>What to do first${open.length === 0 ? "" : ` (${open.length} open)`}</h2>
${list}</section>
`;
}

function places(telemetryPath: string): Html {
  const all: readonly (readonly [href: string, text: string, more: string])[] = [
    ["/recommendations", "Recommendations", "what to do, why, and what it would change"],
    ["/review", "Review", "the week's capacity review: what was allocated, used, wasted and paid"],
    [telemetryPath, "Metrics as text", "for Prometheus"],
    ["/api/v1", "API as JSON", listNames.join(", ")],
    ["/api/v1/openapi.json", "Description of the API as JSON", "OpenAPI"],
    ["/readyz", "Readiness as text", "whether everything was read"],
    ["/livez", "Liveness as text", "whether the process works"],
  ];
  return html`<ul>${all.map(([href, text, more]) => html`<li><a href="${href}">${text}</a> (${href}): ${more}</li>\n`)}</ul>`;
}
