import type { Advice, Recommendation } from "../../model/recommendation.ts";
import { adviceGroups } from "../advice/adviceGroups.ts";
import { lossText, rangeText, savedPerWeek, searchText, trackText } from "../advice/adviceWords.ts";
import { plainText } from "../terminal/columns.ts";
import { type Html, html, moreLink } from "./html.ts";
import { pageFrame } from "./pageFrame.ts";
import { inlineSource } from "./pageStyle.ts";
import { type ArticleInput, recommendationArticle, recommendationPath } from "./recommendationArticle.ts";

/** What the pages of recommendations are made from. */
export interface RecommendationsPageInput {
  readonly cluster: string;
  readonly advice: Advice;
  /** Moment that the advice is of, seconds since the epoch; `null` before the first cycle. */
  readonly at: number | null;
  readonly isTooOld: boolean;
  readonly now: number;
  /** Token of the forms; `null`: no users are configured, so nobody may dismiss. */
  readonly token: string | null;
}

/** The most items of each list; those beyond are counted, and only the API lists them. */
const maxOpen = 100;
const maxWithheld = 50;
const maxClosed = 10;

/** Style of the page of recommendations, beside that of every page. Colour repeats what the text says. */
export const adviceStyle = `
article { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.8rem 1rem; margin: 1rem 0; }
.need { border-bottom: 1px solid var(--line); margin: 0; padding: 0.3rem 0; } .need summary { line-height: 1.35; }
article h3 { margin: 0 0 0.4rem; font-size: 1.05rem; }
article h4 { margin: 1rem 0 0.3rem; font-size: 0.95rem; }
article p { margin: 0.4rem 0; }
.kind { display: inline-block; border: 1px solid var(--line); border-radius: 0.3rem; padding: 0 0.4rem; font-size: 0.85rem;
  color: var(--quiet); }
article ul { margin: 0.2rem 0; padding-left: 1.3rem; }
.id { color: var(--quiet); white-space: nowrap; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 0.8rem; margin: 0.6rem 0; }
.facts dt, .facts dd { font-size: 1rem; } .facts dd { font-weight: 600; }
ol.steps { padding-left: 1.3rem; } ol.steps > li { margin-bottom: 0.8rem; }
.wide th[scope=row] { min-width: 7rem; } .withheld li { margin-bottom: 0.5rem; }
.taken { color: var(--ok); } .expired, .dismissed { color: var(--quiet); }
`;

/** Source of the page's own style sheet, for the Content-Security-Policy. */
export const adviceStyleSource = inlineSource(adviceStyle);

/** The page of all recommendations: open ones, the results of others, and what is not recommended and why. */
export function renderRecommendations(input: RecommendationsPageInput): string {
  const { advice, now, token } = input;
  const groups = adviceGroups(advice.recommendations);
  const open = groups.flatMap(({ all }) => all);
  const shown = new Set(open.slice(0, maxOpen));
  const closed = advice.recommendations.filter(({ state }) => state !== "open");
  const article: ArticleInput = { now, token, isOpen: false };
  return frame(
    input,
    html`${notice(input)}
${groups.map(({ act, heading, about, all }) =>
  act !== "do" && all.length === 0
    ? html``
    : html`<h2>${heading} (${all.length})</h2>
${all.length === 0 ? html`` : html`<p class="next">${about}</p>`}${recommendationFolds(
  all.filter((one) => shown.has(one)),
  article,
  open.length,
)}`,
)}
${open.length === 0 ? html`<p class="ok">Nothing is recommended${input.at === null ? " yet" : ""}. What was looked at is below.${searchText(advice)}</p>` : html``}
${more(open.length - maxOpen, "/api/v1/recommendations?state=open")}
${token === null && open.length > 0 ? html`<p class="next">To say "I did it" or "Not now" here, configure basic_auth_users in the web configuration file.</p>` : html``}
${trackSection(advice)}<h2>Not recommended (${advice.withheld.length})</h2>
${withheldList(advice)}
<h2>Taken, expired or dismissed lately (${closed.length})</h2>
${
  closed.length === 0
    ? html`<p>None.</p>`
    : html`<details><summary>What became of them, the last first</summary>${closed.slice(0, maxClosed).map((one) => recommendationArticle(one, article))}
${more(closed.length - maxClosed, "/api/v1/recommendations")}</details>`
}`,
  );
}

/** The page of one recommendation, with all its details; `null` where there is none of that id. */
export function renderRecommendation(input: RecommendationsPageInput, id: string): string | null {
  const [found, ...earlier] = input.advice.recommendations.filter((one: Recommendation) => one.id === id);
  if (found === undefined) return null;
  const { now, token } = input;
  return frame(
    input,
    html`${notice(input)}
<p><a href="/recommendations">All recommendations</a></p>
${recommendationArticle(found, { now, token, isOpen: true })}${
  earlier.length === 0
    ? html``
    : html`<h2>Before (${earlier.length})</h2>
<p>What became of it earlier, the last first.</p>${earlier.slice(0, maxClosed).map((one) => recommendationArticle(one, { now, token, isOpen: false }))}`
}`,
  );
}

function frame({ cluster }: RecommendationsPageInput, body: Html): string {
  return pageFrame({
    title: `Recommendations · Fairlead ${cluster}`,
    heading: "Recommendations",
    about: html`<p>cluster <strong>${cluster}</strong> · <a href="/api/v1/recommendations">as JSON</a></p>`,
    here: "/recommendations",
    styles: [adviceStyle],
    body,
    foot: html`<p>Every effect is simulated on a copy of this cluster twice: with pods on the fullest node that fits (packed) and on the emptiest (spread). The worse of the two decides.</p>`,
  });
}

function notice({ at, isTooOld, now }: RecommendationsPageInput): Html {
  if (at === null)
    return html`<p class="warning">No answers yet: the first cycle is not complete. See <a href="/readyz">/readyz</a>.</p>`;
  if (!isTooOld) return html``;
  const age = Math.round(now - at);
  return html`<p class="error">This is ${age} s old: the last cycles did not complete. Do not act on it; see the <a href="/">start page</a>.</p>`;
}

/** How recommendations that were shown turned out: whether the work that they named came back by itself. */
function trackSection({ trackRecords = [] }: Advice): Html {
  if (trackRecords.length === 0) return html``;
  return html`<h2>How earlier ones turned out</h2>
<p>Of those shown whose outcome became known in the last 30 days. Wrong is what named work that came back by itself, or moved what was evicted again.</p>
<ul>${trackRecords.map((one) => html`<li>${trackText(one)}</li>\n`)}</ul>
`;
}

function withheldList({ withheld }: Advice): Html {
  if (withheld.length === 0) return html`<p>Nothing else was found that could be better.</p>`;
  const items = withheld
    .slice(0, maxWithheld)
    .map(
      ({ kind, subject, why, reason }) =>
        html`<li><span class="kind">${kind}</span> <strong>${plainText(subject, 100)}</strong> <span class="next">${why}</span><br>${plainText(reason, 1000)}</li>\n`,
    );
  return html`<details><summary>What was looked at, and why it is not advised</summary><ul class="withheld">${items}</ul>
${more(withheld.length - items.length, "/api/v1/withheld")}</details>`;
}

const more = (rest: number, path: string): Html => moreLink(rest, path, path);

const longestLine = 140;

/** The most bytes of all open recommendations on the page; each group has its part of them. */
const mostBytes = 130_000;

/**
 * Recommendations that unfold: each is one line, which contains the details for as long as the page stays small; the others
 * link to a page of their own.
 */
function recommendationFolds(all: readonly Recommendation[], input: ArticleInput, open: number): readonly Html[] {
  const lines = all.map((one) => ({ one, line: fold(one, pointer(one)) }));
  let left =
    (mostBytes * all.length) / Math.max(1, open) -
    lines.reduce((sum, { line }) => sum + Buffer.byteLength(line.markup), 0);
  return lines.map(({ one, line }) => {
    const whole = fold(one, recommendationArticle(one, input));
    const more = Buffer.byteLength(whole.markup) - Buffer.byteLength(line.markup);
    if (more > left) return line;
    left -= more;
    return whole;
  });
}

function fold(one: Recommendation, body: Html): Html {
  const facts = [
    `${rangeText(one.effect.gainedGpus)} GPUs`,
    savedPerWeek(one.effect.savingPerWeek),
    lossText(one),
    `confidence ${one.confidence.level}`,
  ];
  const line = facts
    .filter((fact) => fact !== "")
    .map((fact) => plainText(fact, longestLine))
    .join(" · ");
  return html`<details class="need"><summary>${plainText(one.title, longestLine)}<br><span class="next">${line}</span></summary>
${body}</details>
`;
}

function pointer(one: Recommendation): Html {
  return html`<p>${plainText(one.reason, longestLine)}</p><p><a href="${recommendationPath(one)}">All of it, with its steps</a></p>`;
}
