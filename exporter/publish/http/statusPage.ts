import type { Analysis } from "../../analysis/analysis.ts";
import type { Problem } from "../../model/problem.ts";
import type { Advice } from "../../model/recommendation.ts";
import { gainText, lossText } from "../advice/adviceWords.ts";
import { mainCurrency } from "../document/priceRecords.ts";
import { ageInUse, type Health, isTooOld, isUp, missingForReadiness, type SourceHealth } from "../health.ts";
import { worstFirst } from "../problemGroups.ts";
import { plainText } from "../terminal/columns.ts";
import { money } from "../terminal/costText.ts";
import { idleSummaries } from "../terminal/idleNodeLines.ts";
import { blockedTexts } from "../terminal/placementLines.ts";
import { type Html, html } from "./html.ts";
import { listNames } from "./lists.ts";
import { pageFrame } from "./pageFrame.ts";
import { styleSource } from "./pageStyle.ts";
import { recommendationPath, shortTitle } from "./recommendationArticle.ts";
import { queueSection } from "./statusQueues.ts";

/** Problems beyond this number are counted, and listed by the API alone. */
const maxProblems = 100;

/** What the start page says. */
export interface StatusPageInput {
  readonly health: Health;
  readonly analysis: Analysis | null;
  /** The moment of `analysis`, seconds since the epoch; `null` without one. */
  readonly at: number | null;
  readonly advice: Advice;
  readonly problems: readonly Problem[];
  readonly telemetryPath: string;
  readonly now: number;
}

/** Style of the start page, beside that of every page. Colour repeats what the text says. */
export const statusStyle = `
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; margin: 1.25rem 0; }
.numbers div { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem; }
.problems { list-style: none; padding: 0; }
.problems li { border-left: 0.25rem solid var(--line); padding: 0.2rem 0 0.2rem 0.75rem; margin-bottom: 0.75rem; }
.problems .error { border-color: var(--error); } .problems .warning { border-color: var(--warning); }
td.error, .problems .error strong { color: var(--error); }
.problems .warning strong { color: var(--warning); }
`;

/** Source of the page's own style sheet, for the Content-Security-Policy. */
export const statusStyleSource = styleSource(statusStyle);

/** The start page: what this is, whether it works, what is wrong and what to do, where things are. */
export function renderStatusPage(input: StatusPageInput): string {
  const { health, analysis, at, advice, problems, telemetryPath, now } = input;
  return pageFrame({
    title: `Fairlead ${health.cluster}`,
    heading: "Fairlead",
    about: html`<p>cluster <strong>${health.cluster}</strong> · version ${health.version} · ${utc(now)}</p>`,
    here: "/",
    styles: [statusStyle],
    body: html`${answer(health, analysis, at, now)}
${queueSection(analysis)}
${blockedSection(analysis)}
${idleNodeSection(analysis)}
${adviceSection(advice)}
<h2>Problems</h2>
${problemList(problems)}
<h2>Sources</h2>
${sourceTable(health.sources)}
<h2>Where things are</h2>
${links(telemetryPath)}`,
    foot: html`<p>Fairlead only reads your cluster: it observes who holds the GPUs of a Kubernetes cluster and whether they use them.</p>`,
  });
}

const shownBlocked = 5;

/** Work that waits although enough GPUs are free; nothing where there is none. */
function blockedSection(analysis: Analysis | null): Html {
  if (analysis === null || analysis.blocked.work.length === 0) return html``;
  const items = blockedTexts(analysis, shownBlocked).map(
    ({ name, text }) => html`<li class="warning"><strong>${name}</strong> ${text}</li>\n`,
  );
  const rest = analysis.blocked.work.length - items.length;
  const more = rest > 0 ? html`<p>${rest} more: <a href="/api/v1/blocked">/api/v1/blocked</a></p>` : html``;
  return html`<h2>Blocked although enough is free</h2>
<ul class="problems">${items}</ul>${more}`;
}

/** Nodes that run for nobody or for nothing, each kind with its next step; nothing where there are none. */
function idleNodeSection(analysis: Analysis | null): Html {
  const summaries = analysis === null ? [] : idleSummaries(analysis);
  if (summaries.length === 0) return html``;
  const items = summaries.map(
    ({ kind, text, nextStep }) =>
      html`<li class="warning"><a href="/api/v1/nodes?idle=${kind}"><strong>${kind}</strong></a> ${text}<br><span class="next">Next: ${nextStep}</span></li>\n`,
  );
  return html`<h2>Idle nodes</h2>
<ul class="problems">${items}</ul>`;
}

const shownAdvice = 3;

/** How much is recommended, and what is worth most; nothing where there is none. */
function adviceSection({ recommendations }: Advice): Html {
  const open = recommendations.filter(({ state }) => state === "open");
  if (open.length === 0) return html``;
  const items = open
    .slice(0, shownAdvice)
    .map(
      (one) =>
        html`<li><a href="${recommendationPath(one)}">${shortTitle(one)}</a><br><span class="next">${plainText(`${gainText(one)}; ${lossText(one)}`, 500)}</span></li>\n`,
    );
  const all =
    open.length > shownAdvice ? html`<p><a href="/recommendations">All ${open.length} recommendations</a></p>` : html``;
  return html`<h2>Recommendations (${open.length})</h2>
<ul class="problems">${items}</ul>${all}`;
}

function answer(health: Health, analysis: Analysis | null, at: number | null, now: number): Html {
  const missing = missingForReadiness(health);
  if (analysis === null || at === null) {
    return html`<p class="warning">No answers yet: ${missing.join("; ")}. The first ones come within ${health.intervalSeconds} s of the sources being read.</p>`;
  }
  const physical = analysis.pools.reduce((sum, pool) => sum + pool.physicalGpus, 0);
  const allocated = analysis.pools.reduce((sum, pool) => sum + pool.allocated, 0);
  const active = analysis.teams.reduce((sum, team) => sum + team.active, 0);
  const age = Math.max(0, Math.round(now - at));
  const stale = isTooOld(at, health, now)
    ? html`<p class="error">These numbers are ${age} s old. The last cycles did not complete: see the problems below and Fairlead's log.</p>`
    : html``;
  return html`${stale}<dl class="numbers">
<div><dt>physical GPUs</dt><dd>${amount(physical)}</dd></div>
<div><dt>allocated</dt><dd>${amount(allocated)}</dd></div>
<div><dt>active</dt><dd>${amount(active)}</dd></div>
${costTile(analysis)}<div><dt>last cycle</dt><dd>${age} s ago</dd></div>
</dl>`;
}

/** What all GPUs with a price cost per hour; nothing where none has one. */
function costTile({ prices: { groups } }: Analysis): Html {
  const currency = mainCurrency(groups);
  if (currency === null) return html``;
  // Few groups say the same as all accounting entries: the page must not go over those for each who opens it.
  let [perHour, unpricedGpus] = [0, 0];
  for (const { price, physicalGpus } of groups) {
    if (price === null) unpricedGpus += physicalGpus;
    else if (price.currency === currency) perHour += price.perGpuHour * physicalGpus;
  }
  const more = unpricedGpus > 0 ? ` + ${amount(unpricedGpus)} GPUs unpriced` : "";
  return html`<div><dt>cost per hour${more}</dt><dd>${money(perHour, currency)}</dd></div>
`;
}

function problemList(problems: readonly Problem[]): Html {
  if (problems.length === 0) return html`<p class="ok">None.</p>`;
  const items = worstFirst(problems)
    .slice(0, maxProblems)
    .map(
      ({ severity, source, message, nextStep }) =>
        html`<li class="${severity}"><strong>${severity}</strong> ${source}: ${message}<br><span class="next">Next: ${nextStep}</span></li>\n`,
    );
  const rest = problems.length - items.length;
  const more = rest > 0 ? html`<p>${rest} more: <a href="/api/v1/problems">/api/v1/problems</a></p>` : html``;
  return html`<ul class="problems">${items}</ul>${more}`;
}

function sourceTable(sources: readonly SourceHealth[]): Html {
  if (sources.length === 0) return html`<p>No source is running.</p>`;
  const rows = sources.map((source) => {
    const age = ageInUse(source);
    const fresh = source.parts.filter((part) => part.fresh).length;
    const up = isUp(source);
    return html`<tr><th scope="row">${source.source}</th><td class="${up ? "ok" : "error"}">${up ? "up" : "down"}</td><td>${fresh} of ${source.parts.length}</td><td>${age === null ? "–" : `${Math.round(age)} s`}</td></tr>\n`;
  });
  return html`<table><thead><tr><th>source</th><th>state</th><th>fresh parts</th><th>oldest in use</th></tr></thead><tbody>
${rows}</tbody></table>`;
}

function links(telemetryPath: string): Html {
  const places: readonly (readonly [string, string])[] = [
    [telemetryPath, "metrics for Prometheus"],
    ["/recommendations", "what to do, why, and what it would change"],
    ["/review", "the week's capacity review: what was allocated, used, wasted and paid"],
    ["/api/v1", `JSON API: ${listNames.join(", ")}`],
    ["/api/v1/openapi.json", "description of the API"],
    ["/readyz", "whether everything was read"],
    ["/livez", "whether the process works"],
  ];
  return html`<ul>${places.map(([href, text]) => html`<li><a href="${href}">${href}</a> ${text}</li>\n`)}</ul>`;
}

/** GPUs as people read them: whole, or with one decimal. */
function amount(gpus: number): string {
  const whole = Math.round(gpus);
  return Math.abs(gpus - whole) < 1e-6 ? `${whole}` : gpus.toFixed(1);
}

function utc(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
