import { knownRuns, linePath, type Point, place, roundAbove } from "../../exporter/publish/pages/geometry.ts";
import { type Html, html } from "../../exporter/publish/pages/html.ts";
import type { Runway } from "../document/waste.ts";
import { domainItem } from "../sections/demand.ts";
import { runwayWeekTable } from "../sections/runway.ts";
import { nameText } from "../words/names.ts";
import { runOutText } from "../words/runOutText.ts";
import { dayText } from "../words/times.ts";
import { table } from "./table.ts";

const [width, height, edge] = [720, 100, 6];
const week = 7 * 86_400_000;
/** The most weeks that are drawn up to the last one; `mostAfter` are the most after it. */
const mostBefore = 26;
const mostAfter = 26;

/** Weekly p95 demand against capacity, and where its trend meets it. */
export function runwayChart(runway: Runway, index: number, namesCluster: boolean): Html {
  const { cluster, domain, runsOut, runsOutWithoutWaste } = runway;
  const name = `${domainItem(domain)}${namesCluster ? ` (${nameText(cluster)})` : ""}`;
  return html`<figure class="runway">
<figcaption><strong>${name}</strong>: ${runOutText(runsOut)}; without the waste: ${runOutText(runsOutWithoutWaste)}</figcaption>
${drawing(runway, index, name)}<details><summary>Weeks of ${name}</summary>
${table(runwayWeekTable(runway), { most: 60 })}</details>
</figure>
`;
}

function drawing(
  { weeks, capacityGpus, p95DemandGpus, runsOut, trendGpusPerWeek }: Runway,
  index: number,
  name: string,
): Html {
  const shown = weeks.slice(-mostBefore);
  const first = shown[0];
  if (first === undefined || shown.every((one) => one.p95DemandGpus === null)) return html``;
  const values = shown.map((one) => one.p95DemandGpus);
  const lastKnown = values.findLastIndex((value) => value !== null);
  const dates = [runsOut.earliest, runsOut.likely, runsOut.latest].filter((date) => date !== null);
  const weekOf = (date: string): number => (Date.parse(date) - Date.parse(first.from)) / week;
  const ahead = Math.min(mostAfter, Math.max(2, ...dates.map((date) => weekOf(date) - shown.length + 1)));
  const span = shown.length - 1 + Math.max(1, ahead);
  const most = Math.max(capacityGpus ?? 0, ...values.map((value) => value ?? 0));
  const top = roundAbove(most * 1.05);
  const x = (at: number): number => edge + (Math.min(at, span) * (width - 2 * edge)) / span;
  const y = (gpus: number): number => height - edge - (Math.min(Math.max(gpus, 0), top) * (height - 2 * edge)) / top;
  const runs = knownRuns(values).map(([from, run]) => run.map((value, i): Point => [x(from + i), y(value)]));
  const dots = runs.flat().map(([left, at]) => html`<path class="dot" d="M${place(left)} ${place(at)}h0"/>`);
  const id = `runway-${index}`;
  return html`<div class="axis" aria-hidden="true"><span>${top.toLocaleString("en-US")} GPUs</span></div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-desc"><title id="${id}-title">Runway of ${name}</title><desc id="${id}-desc">${runOutText(runsOut)}. The weeks are in the table below.</desc>
${runs.map((run) => html`<path class="trace" d="${linePath(run)}"/>`)}${dots}
${trendLine(p95DemandGpus, trendGpusPerWeek, lastKnown, span, x, y)}
${capacityGpus === null ? html`` : capacityLine(capacityGpus, dates.map(weekOf), span, x, y)}
<path class="base" d="M0 ${height - edge}H${width}"/></svg>
<div class="axis" aria-hidden="true"><span>${dayText(first.from)}</span><span>${dayText(new Date(Date.parse(first.from) + span * week).toISOString())}</span></div>
`;
}

type Scale = (value: number) => number;

function trendLine(from: number | null, perWeek: number | null, at: number, span: number, x: Scale, y: Scale): Html {
  if (from === null || perWeek === null) return html``;
  const to = from + perWeek * (span - at);
  return html`<path class="trend" d="${linePath([
    [x(at), y(from)],
    [x(span), y(to)],
  ])}"/>`;
}

/** The line of the capacity, which is thick between the dates at which demand may meet it. */
function capacityLine(gpus: number, dates: readonly number[], span: number, x: Scale, y: Scale): Html {
  const line = html`<path class="capacity" d="M${edge} ${place(y(gpus))}H${width - edge}"/>`;
  if (dates.length < 2) return line;
  const [from, to] = [Math.min(...dates), Math.max(...dates)].map((date) => x(Math.min(Math.max(date, 0), span)));
  return html`${line}<path class="range" d="M${place(from ?? 0)} ${place(y(gpus))}H${place(to ?? 0)}"/>`;
}
