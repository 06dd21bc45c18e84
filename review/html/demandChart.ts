import {
  knownRuns,
  type Point,
  place,
  roundAbove,
  stepPath,
  stepPoints,
} from "../../exporter/publish/pages/geometry.ts";
import { type Html, html } from "../../exporter/publish/pages/html.ts";
import type { Demand, DemandStep } from "../document/use.ts";
import { demandSentence, domainItem, oneMoreNodeSentence, poolsText, stepTable } from "../sections/demand.ts";
import { nameText } from "../words/names.ts";
import { dayText } from "../words/times.ts";
import { hatch } from "./hatch.ts";
import { sentence } from "./pieces.ts";
import { table } from "./table.ts";

const height = 160;
/** The approximate width of a drawing. The width of a step is a whole number, which saves the page the digits of fractions. */
const aboutWide = 720;
/** The most steps of a drawing; `mostRows` are the most rows of the table behind it. */
const mostDrawn = 168;
const mostRows = 7;
const secondsPerDay = 86_400;

/** Demand of one quota domain over time, with the numbers behind it. Time that nobody knows is a gap. */
export function demandChart(demand: Demand, index: number, namesCluster: boolean): Html {
  const { steps, domain, cluster } = demand;
  const where = namesCluster ? ` (${nameText(cluster)})` : "";
  const pools = poolsText(demand);
  const stride = Math.max(1, Math.ceil(steps.length / mostRows));
  const name = `${domainItem(domain)}${where}`;
  const node = oneMoreNodeSentence(demand);
  return html`<figure>
<figcaption><strong>${name}</strong>${pools === "" ? "" : ` ${pools}`}: ${sentence(demandSentence(demand))}${node === null ? html`` : html`<br>${sentence(node)}`}</figcaption>
${drawing(demand, index, name)}
<details><summary>Numbers of ${name}</summary>
${table(stepTable(demand), { most: mostRows, stride })}</details>
</figure>
`;
}

function drawing({ steps }: Demand, index: number, name: string): Html {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return html`<p class="quiet">Nothing is known of it.</p>`;
  const every = Math.ceil(steps.length / mostDrawn);
  const drawn = steps.filter((_step, i) => i % every === 0);
  const top = roundAbove(Math.max(...drawn.map(highest)));
  const stepWidth = Math.max(1, Math.round(aboutWide / drawn.length));
  const width = stepWidth * drawn.length;
  const x = (i: number): number => i * stepWidth;
  const y = (gpus: number): number => height - (gpus * height) / top;
  const line = (look: string, values: readonly (number | null)[]) =>
    knownRuns(values).map(([from, run]) => html`<path class="${look}" d="${stepPath(stepPoints(from, run, x, y))}"/>`);
  const area = (look: string, values: readonly (number | null)[]) =>
    knownRuns(values).map(
      ([from, run]) =>
        html`<path class="${look}" d="${stepPath(stepPoints(from, run, x, y))}V${height}H${place(x(from))}Z"/>`,
    );
  const allocated = drawn.map((step) => step.allocated);
  const asked = drawn.map(({ allocated, pending }) =>
    allocated === null || pending === null ? null : allocated + pending,
  );
  const id = `waits-${index}`;
  const said = `From ${dayText(first.at)} to ${dayText(last.at)}. The numbers are in the table below.`;
  return html`<div class="axis" aria-hidden="true"><span>${top.toLocaleString("en-US")} GPUs</span>${every > 1 ? html`<span>one step in ${every} is drawn</span>` : html``}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-desc"><title id="${id}-title">Demand of ${name}</title><desc id="${id}-desc">${said}</desc>
<defs>${hatch(id)}</defs>
${dayLines(drawn, x, width)}
${waitingAreas(allocated, asked, x, y, id)}${area("allocated", allocated)}${area(
  "active",
  drawn.map((step) => step.active),
)}
${line(
  "guaranteed",
  drawn.map((step) => step.guaranteed),
)}${line(
  "capacity",
  drawn.map((step) => step.capacity),
)}
<path class="base" d="M0 ${height}H${width}"/></svg>
<div class="axis" aria-hidden="true"><span>${dayText(first.at)}</span><span>${dayText(last.at)}</span></div>`;
}

const highest = ({ capacity, guaranteed, allocated, active, pending }: DemandStep): number =>
  Math.max(capacity ?? 0, guaranteed ?? 0, active ?? 0, (allocated ?? 0) + (pending ?? 0));

/** Draws what waits as hatched areas on top of what is allocated, where any work waits. */
function waitingAreas(
  allocated: readonly (number | null)[],
  asked: readonly (number | null)[],
  x: (index: number) => number,
  y: (gpus: number) => number,
  id: string,
): readonly Html[] {
  const waits = asked.map((sum, i) => (sum !== null && sum > (allocated[i] ?? 0) ? sum : null));
  return knownRuns(waits).map(([from, run]) => {
    const upper = stepPoints(from, run, x, y);
    const below: readonly Point[] = stepPoints(
      from,
      allocated.slice(from, from + run.length).map((one) => one ?? 0),
      x,
      y,
    ).toReversed();
    return html`<path fill="url(#${id})" d="${stepPath(upper)}${stepPath(below, "L")}Z"/><path class="waiting-edge" d="${stepPath(upper)}"/>`;
  });
}

/** A line at each midnight; in windows of more than a month, at each seventh. */
function dayLines(steps: readonly DemandStep[], x: (index: number) => number, width: number): Html {
  const midnights = steps.flatMap(({ at }, i) => (i > 0 && (Date.parse(at) / 1000) % secondsPerDay === 0 ? [i] : []));
  const shown = midnights.filter((_i, n) => midnights.length <= 31 || n % 7 === 0);
  const path = shown.map((i) => `M${place(x(i))} 0V${height}`).join("");
  return html`<path class="grid" d="M0 0.5H${width}M0 ${height / 2}H${width}${path}"/>`;
}
