import { place } from "../../exporter/publish/pages/geometry.ts";
import { type Html, html } from "../../exporter/publish/pages/html.ts";
import type { Review } from "../document/review.ts";
import { actionTable, lastActionTable, notAdvisedTable, trackTable, whyNothing } from "../sections/actions.ts";
import { decisionTable, undecidedTexts } from "../sections/decisions.ts";
import { faultTable, outageTable } from "../sections/faults.ts";
import { jobsByCost, jobsByWaste, jobsSentence } from "../sections/jobs.ts";
import { missingText } from "../sections/missing.ts";
import { fragmentationTable, idlePoolTable, streakTable } from "../sections/nodes.ts";
import { paidForNothing } from "../sections/paidForNothing.ts";
import { runwayTable } from "../sections/runway.ts";
import type { Table } from "../sections/section.ts";
import { servingTable } from "../sections/serving.ts";
import { startTimesTable } from "../sections/startTimes.ts";
import { budgetTable, fairnessTable, goodputTable, teamTable } from "../sections/teams.ts";
import { topologyTable } from "../sections/topology.ts";
import { waitsByQueue, waitsBySize } from "../sections/waits.ts";
import { shownStages, wasteTable } from "../sections/waste.ts";
import { demandChart } from "./demandChart.ts";
import { demandLegend } from "./hatch.ts";
import { sentence } from "./pieces.ts";
import { runwayChart } from "./runwayChart.ts";
import { table } from "./table.ts";

/** The most rows of each table on the page; the CSV has all. */
const most = {
  teams: 25,
  goodput: 7,
  waits: 25,
  nodes: 10,
  jobs: 10,
  domains: 20,
  charts: 6,
  actions: 5,
  lastActions: 10,
  trackRecords: 20,
} as const;

/** A section with a heading; if it has no content, it says why. */
export function section(review: Review, id: string, heading: string, content: Html | null, look = ""): Html {
  const inner = content ?? html`<p class="quiet">${missingText(review)}</p>`;
  const kind = look === "" ? html`` : html` class="${look}"`;
  return html`<section aria-labelledby="${id}"${kind}>
<h2 id="${id}">${heading}</h2>
${inner}
</section>
`;
}

/** The list of what to decide, and of the reasons why nothing is to be decided about other large losses. */
export function decideList(review: Review): Html {
  const shown = decisionTable(review);
  const rest = undecidedTexts(review);
  if (shown === null && rest.length === 0) return html``;
  const why =
    rest.length === 0 ? html`` : html`<p>Not among them:</p>\n<ul>${rest.map((text) => html`<li>${text}</li>\n`)}</ul>`;
  return html`<section class="decide keep" aria-labelledby="decide"><h2 id="decide">Decide today</h2>
${tables([shown, most.actions, "wordy"]) ?? html``}${why}</section>
`;
}

export const wasteSection = (review: Review): Html =>
  section(review, "waste", "Where did the GPU time go?", wasteChart(review), "keep");

const chartWidth = 400;

/** The waterfall: a table whose rows have bars. A loss begins where the next level ends. */
function wasteChart(review: Review): Html {
  const stages = shownStages(review);
  const all = stages[0]?.gpuHours ?? 0;
  const scale = (amount: number): number => (all > 0 ? (chartWidth * amount) / all : 0);
  const bars: readonly Html[] = stages.flatMap(({ level, gpuHours, drops }) => {
    let left = gpuHours;
    return [
      bar(level === "active" ? "bar-good" : "bar-level", 0, scale(gpuHours)),
      ...drops.map((drop) => {
        left -= drop.gpuHours;
        return bar(
          drop.state === "unobserved" ? "bar-unknown" : "bar-lost",
          scale(Math.max(0, left)),
          scale(drop.gpuHours),
        );
      }),
    ];
  });
  return html`${table(wasteTable(review), { most: 40, picture: { heading: "", of: (_row, i) => bars[i] ?? html`` } })}`;
}

/** A bar of the waterfall. It is hidden from screen readers, because the table says the same in numbers. */
function bar(look: string, from: number, length: number): Html {
  if (length <= 0) return html``;
  return html`<svg viewBox="0 0 ${chartWidth} 14" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="${look}" x="${place(from)}" y="0" width="${place(Math.max(1, length))}" height="14"/></svg>`;
}

export function demandSection(review: Review): Html {
  const { demand, clusters } = review;
  if (demand === null) return section(review, "demand", "Is there enough, and for whom?", null);
  const charts = demand.slice(0, most.charts).map((one, i) => demandChart(one, i, clusters.length > 1));
  const rest = demand.length - charts.length;
  return section(
    review,
    "demand",
    "Is there enough, and for whom?",
    html`${demandLegend()}
<div class="charts">${charts}</div>${rest > 0 ? html`<p class="quiet">${rest} more quota domains: see the CSV (--format csv).</p>` : html``}`,
  );
}

export function teamSection(review: Review): Html {
  const budgets = budgetTable(review);
  return section(
    review,
    "teams",
    review.team === null ? "Who had, used and waited?" : "What it had, used and waited for",
    html`${tables([teamTable(review), most.teams], [goodputTable(review), most.goodput], [fairnessTable(review), most.teams]) ?? html``}
${budgets === null ? html`` : html`<h3>Budgets</h3>\n${table(budgets, { most: most.teams })}`}`,
  );
}

/** A table, the most rows of it on the page, and how it looks. */
type Shown = readonly [Table | null, number, "wordy"?];

const tables = (...all: readonly Shown[]): Html | null => {
  const known = all.flatMap(([one, rows, look]) =>
    one === null ? [] : [html`<div>${table(one, look === undefined ? { most: rows } : { most: rows, look })}</div>\n`],
  );
  return known.length === 0 ? null : html`<div class="tables">${known}</div>`;
};

/** Tables beside each other, where the page is wide enough. */
const side = (...all: readonly Shown[]): Html | null => {
  const known = all.flatMap((one) => tables(one) ?? []);
  return known.length === 0 ? null : html`<div class="pair">${known}</div>`;
};

export const waitSection = (review: Review): Html =>
  section(
    review,
    "waits",
    "How long did work wait to start?",
    side([waitsBySize(review), most.waits], [waitsByQueue(review), most.waits]),
  );

export const nodeSection = (review: Review): Html =>
  section(
    review,
    "idle-nodes",
    "Which nodes did nothing?",
    tables([idlePoolTable(review), most.nodes], [streakTable(review), most.nodes]),
  );

/** The section about what was paid for and did nothing; empty where all that was paid for did something. */
export function nothingSection(review: Review): Html {
  const lost = tables([paidForNothing(review), most.nodes]);
  return lost === null ? html`` : section(review, "nothing", "What was paid for and did nothing?", lost);
}

export const faultSection = (review: Review): Html =>
  section(
    review,
    "faults",
    "What did faults take away?",
    tables([faultTable(review), most.nodes], [outageTable(review), most.nodes]),
  );

export const fragmentationSection = (review: Review): Html =>
  section(
    review,
    "fragmentation",
    "Was free the same as usable?",
    tables([fragmentationTable(review), most.domains]),
    "keep",
  );

/** The section about how well it was foreseen when work would start; empty where no start is remembered. */
export function startTimesSection(review: Review): Html {
  const starts = tables([startTimesTable(review), most.jobs]);
  return starts === null ? html`` : section(review, "start-times", "Did work start when foreseen?", starts);
}

/** The section about gangs that must stay within one domain; empty where no level of the topology is known. */
export function topologySection(review: Review): Html {
  const fitted = tables([topologyTable(review), most.domains]);
  return fitted === null ? html`` : section(review, "topology", "How large a gang fitted together?", fitted);
}

/** The section about what workloads that serve did; empty where none counts its requests. */
export function servingSection(review: Review): Html {
  const served = tables([servingTable(review), most.jobs]);
  return served === null ? html`` : section(review, "serving", "What did serving cost?", served);
}

export function jobSection(review: Review): Html {
  const said = jobsSentence(review);
  const content = side([jobsByCost(review), most.jobs], [jobsByWaste(review), most.jobs]);
  return section(
    review,
    "jobs",
    "Which jobs cost and wasted most?",
    said === null || content === null ? null : html`<p>${sentence(said)}</p>\n${content}`,
    "jobs",
  );
}

export function runwaySection(review: Review): Html {
  const { runway, clusters } = review;
  if (runway === null) return section(review, "runway", "When is capacity used up?", null);
  const charts = runway
    .filter(({ weeks }) => weeks.some(({ p95DemandGpus }) => p95DemandGpus !== null))
    .slice(0, most.charts)
    .map((one, i) => runwayChart(one, i, clusters.length > 1));
  return section(
    review,
    "runway",
    "When is capacity used up?",
    html`${tables([runwayTable(review), most.domains]) ?? html``}
<p class="quiet">Dots: p95 demand of each week. Dotted: its trend. Line: capacity, thick where the trend meets it in four of five cases.</p>
<div class="charts">${charts}</div>`,
  );
}

/** The content about what to do, and why nothing else is advised. */
function actionContent(review: Review): Html | null {
  const why = whyNothing(review);
  const shown = tables(
    [actionTable(review), most.actions, "wordy"],
    [notAdvisedTable(review), most.lastActions, "wordy"],
  );
  const left = review.notAdvisedLeftOut;
  const more =
    left > 0 ? html`<p class="quiet">${left} more are not advised: /api/v1/withheld lists what is so now.</p>` : html``;
  return shown === null ? null : html`${why === null ? html`` : html`<p>${why}</p>\n`}${shown}${more}`;
}

export function actionSection(review: Review): Html {
  const left = review.lastActionsLeftOut;
  return html`${section(review, "actions", "What to do", actionContent(review), "keep")}${section(
    review,
    "last-actions",
    "What became of earlier advice",
    review.lastActions === null
      ? null
      : html`${tables([lastActionTable(review), most.lastActions, "wordy"]) ?? html``}${left > 0 ? html`<p class="quiet">${left} more needs are not listed: fairlead ledger query --of recommendations has all.</p>` : html``}${tables([trackTable(review), most.trackRecords]) ?? html``}`,
  )}`;
}
