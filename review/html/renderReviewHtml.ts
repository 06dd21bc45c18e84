import { counted } from "../../exporter/publish/advice/adviceWords.ts";
import { knownRuns, linePath, type Point } from "../../exporter/publish/pages/geometry.ts";
import { type Html, html } from "../../exporter/publish/pages/html.ts";
import { pageFrame } from "../../exporter/publish/pages/pageFrame.ts";
import type { Review } from "../document/review.ts";
import type { Tile } from "../document/tiles.ts";
import { coverageTable, headSentences, isCovered, noteTexts } from "../sections/head.ts";
import { headline } from "../sections/headline.ts";
import { isOfNoTeam } from "../sections/missing.ts";
import { periodTable, termsSentence, tileChange, tileItem, tileUnit, tileValue } from "../sections/tiles.ts";
import { spokenText } from "../words/figureText.ts";
import { longText, nameText, teamText } from "../words/names.ts";
import { dayText, minuteText, windowText } from "../words/times.ts";
import { figureAttributes, sentence } from "./pieces.ts";
import { reviewStyle } from "./reviewStyle.ts";
import {
  actionSection,
  decideList,
  demandSection,
  faultSection,
  fragmentationSection,
  jobSection,
  nodeSection,
  nothingSection,
  runwaySection,
  servingSection,
  startTimesSection,
  teamSection,
  topologySection,
  waitSection,
  wasteSection,
} from "./sections.ts";
import { table } from "./table.ts";

/** Where the page of a review will be, so that its links work there. */
export interface ReviewPageOptions {
  /** Whether it is served at /review, beside the other pages; a file has no other pages to link to. */
  readonly isServed?: boolean;
  /** Address below which Fairlead's docs are, such as `../docs/`; without one, the docs are named and not linked. */
  readonly docs?: string;
}

const mostNotes = 20;

/** A review as one page: a file of its own, without a script and without anything that it would have to fetch. */
export function renderReviewHtml(review: Review, options: ReviewPageOptions = {}): string {
  const { clusters, team, window } = review;
  const heading = team === null ? "GPU capacity review" : `GPU review of ${teamText(team)}`;
  const where = clusters.slice(0, 12).map(nameText).join(", ");
  return pageFrame({
    title: `${heading} · ${where} · ${nameText(window.label)}`,
    heading,
    about: html`<p>${clusters.length > 1 ? "clusters" : "cluster"} <strong>${where}${clusters.length > 12 ? ` and ${clusters.length - 12} more` : ""}</strong> · <strong>${nameText(window.label)}</strong> · ${windowText(window)}${window.isOver ? "" : " · not over yet"} · written ${minuteText(review.writtenAt)}</p>
${headSentences(review).map((one) => html`<p>${sentence(one)}</p>\n`)}`,
    here: options.isServed === true ? "/review" : null,
    styles: [reviewStyle],
    body: isCovered(review)
      ? html`<p class="headline">${headline(review).map((one) => html`${sentence(one)} `)}</p>\n${numbers(review)}${notes(review)}`
      : notes(review),
    foot: foot(review, options),
  });
}

function numbers(review: Review): Html {
  const periods = periodTable(review);
  const coverage = coverageTable(review);
  const { demand, idleNodes, fragmentation, faults, runway } = review;
  const unless = (part: unknown, shown: (of: Review) => Html): Html =>
    isOfNoTeam(review, part) ? html`` : shown(review);
  return html`${decideList(review)}<section aria-labelledby="glance"><h2 id="glance">At a glance</h2>
${tileList(review)}
<p>${sentence(termsSentence(review))}</p>
${periods === null ? html`` : html`<details><summary>The periods in numbers</summary>\n${table(periods, { most: 60 })}</details>`}
</section>
${wasteSection(review)}
<h2 class="appendix">Appendix</h2>
${coverage === null ? html`` : table(coverage, { most: 50 })}
${unless(demand, demandSection)}${teamSection(review)}${waitSection(review)}${startTimesSection(review)}
<div class="pair">${unless(idleNodes, nodeSection)}${unless(fragmentation, fragmentationSection)}</div>
${topologySection(review)}${nothingSection(review)}${unless(faults, faultSection)}${servingSection(review)}${jobSection(review)}${unless(runway, runwaySection)}${actionSection(review)}`;
}

/** The numbers of a window, each beside those of the periods before, and who can act on a change. */
function tileList({ tiles, window }: Review): Html {
  return html`<ul class="tiles" data-section="tiles">
${tiles.map((tile) => tileHtml(tile, window))}</ul>`;
}

const periodNames: Readonly<Record<Review["window"]["kind"], string>> = {
  week: "week",
  month: "month",
  span: "period",
};

function tileHtml(tile: Tile, { kind, label }: Review["window"]): Html {
  const count = tile.before.length;
  const periods = count === 1 ? `the ${periodNames[kind]}` : `the ${counted(count, periodNames[kind])}`;
  // Amounts are compared per covered hour, so that a week with gaps does not look smaller.
  const compared = `${tile.unit === "ratio" ? "" : "per covered hour "}against ${periods} before`;
  const change = tileChange(tile);
  const difference =
    count === 0
      ? html``
      : html`<p><span${figureAttributes(change, false)}>${spokenText(change)}</span> ${compared}</p>`;
  const note = tile.note === "" ? html`` : html`<p>${longText(tile.note)}</p>`;
  return html`<li data-item="${tileItem(tile)}"><h3>${nameText(tile.title)}</h3>
<p class="value"${figureAttributes(tileValue(tile), false)}>${spokenText(tileValue(tile))}</p>
${difference}${sparkline(tile, nameText(label))}${note}<p>Who can act: ${nameText(tile.owner)}</p></li>
`;
}

const [width, height, edge] = [120, 30, 4];

/** The periods before and this one as a line with a dot at its end; periods that nobody knows are gaps. */
function sparkline(tile: Tile, label: string): Html {
  if (tile.before.length === 0) return html``;
  const values = [...tile.before.map(({ value }) => value), tile.value];
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const x = (index: number): number => edge + (index * (width - 2 * edge)) / (values.length - 1);
  const y = (value: number): number =>
    high > low ? height - edge - ((value - low) / (high - low)) * (height - 2 * edge) : height / 2;
  const runs = knownRuns(values).map(([from, run]) => run.map((value, i): Point => [x(from + i), y(value)]));
  const lines = runs.filter((run) => run.length > 1).map((run) => html`<path class="trace" d="${linePath(run)}"/>`);
  // A dot is a line of no length with a round end: it stays round however wide the drawing is.
  const dots = runs
    .flat()
    .map(
      ([left, top], i, all) =>
        html`<path class="${i === all.length - 1 ? "dot last" : "dot"}" d="M${left.toFixed(1)} ${top.toFixed(1)}h0"/>`,
    );
  const reported = [...tile.before, { label, value: tile.value }].map(
    (one) => `${nameText(one.label)}: ${spokenText({ measure: "value", unit: tileUnit(tile), value: one.value })}`,
  );
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img"><title>${nameText(tile.title)} by period</title><desc>${reported.join("; ")}</desc>${lines}${dots}</svg>
`;
}

function notes(review: Review): Html {
  const texts = noteTexts(review);
  if (texts.length === 0) return html``;
  const rest = texts.length - mostNotes;
  return html`<section class="keep" aria-labelledby="notes"><h2 id="notes">Before you trust a number</h2>
<ul>${texts.slice(0, mostNotes).map((text) => html`<li>${text}</li>\n`)}${rest > 0 ? html`<li>and ${rest} more: see the JSON</li>` : html``}</ul></section>
`;
}

const docs = [
  ["history.md", "waterfall, costs, budgets"],
  ["fairness.md", "entitlement and deviation"],
  ["idle-nodes.md", "idle nodes"],
  ["placement.md", "stranded and blocked GPUs"],
  ["cost.md", "prices"],
] as const;

/** Says where the numbers are as data: at addresses beside the page that is served, or else from a command. */
function rawNumbers({ window: { kind, label, from, to }, team }: Review, isServed: boolean): Html {
  if (!isServed) return html`fairlead review --format csv`;
  const span: Readonly<Record<string, string>> =
    kind === "span" ? { from: dayText(from), to: dayText(to) } : { [kind]: label };
  const asked = new URLSearchParams({ ...span, ...(team === null ? {} : { team }) });
  return html`<a href="/review?${asked.toString()}&format=csv">CSV</a>, <a href="/review?${asked.toString()}&format=json">JSON</a>`;
}

function foot(review: Review, { docs: base, isServed = false }: ReviewPageOptions): Html {
  const { source } = review;
  const from = { ledger: "the ledger", prometheus: "a metrics server", merged: "the reviews of the clusters" }[source];
  const words = docs.map(([file, text], i) => {
    const name = base === undefined ? html`docs/${file}` : html`<a href="${base}${file}">docs/${file}</a>`;
    return html`${i === 0 ? "" : ", "}${text} (${name})`;
  });
  return html`<p>Numbers come from ${from}, in physical GPUs and UTC; – is unknown. Allocated: given to a pod. Active: allocated and used. Use: active of what was allocated and observed. Idle: allocated, and nothing ran on it. Stalled: it looked busy and computed nothing. Wasted: idle, stalled or underutilized. Stranded: free where no typical pod fits. Money is what the time cost at the prices that held then, whether used or not; nothing is converted between currencies.</p>
<p>How each number is made: ${words}. The same numbers, not rounded: ${rawNumbers(review, isServed)}.</p>`;
}
