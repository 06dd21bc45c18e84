import type { Past, PastChart, PastSeries } from "../past/past.ts";
import { gpus } from "../terminal/columns.ts";
import { knownRuns, linePath, place, roundAbove, stepPoints } from "./geometry.ts";
import { type Html, html } from "./html.ts";

const [width, height] = [720, 130];

/** Style of charts; the text beside them says in words what they show. */
export const chartStyle = `
figure { margin: 0.8rem 0 1.2rem; } figcaption { font-weight: 600; }
.chart { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--quiet); background: var(--back); }
.chart path { vector-effect: non-scaling-stroke; fill: none; stroke-width: 2; }
.chart .area-allocated { fill: var(--open); } .chart .area-active { fill: var(--used); }
.chart .line-allocated { stroke: var(--waits); } .chart .line-active { stroke: var(--used); }
.chart .line-entitled { stroke: var(--text); stroke-dasharray: 5 3; } .chart .line-waiting { stroke: var(--wasted); }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart.swatch { display: inline-block; width: 1.2rem; height: 0.8rem; border: 0; margin-right: 0.4rem; }
.axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: 0.85rem; font-variant-numeric: tabular-nums; }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.2rem; margin: 0.2rem 0; padding: 0; font-size: 0.9rem; }
`;

/** The last day and week of a name as charts, or why there are none. */
export function pastSection(past: Past): Html {
  if (!past.isKnown) {
    const next = past.nextStep === "" ? html`` : html`<br><span class="next">Next: ${past.nextStep}</span>`;
    return html`<section id="past"><h2>Last day and week</h2>
<p>${past.why}${next}</p></section>
`;
  }
  return html`<section id="past"><h2>Last day and week</h2>
${past.charts.map((chart) => (chart.unit === "hours" ? spanFigure(chart) : lineFigure(chart)))}</section>
`;
}

function lineFigure(chart: PastChart): Html {
  const { title, series, unit, from, stepSeconds } = chart;
  const count = series[0]?.values.length ?? 0;
  const top = roundAbove(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const x = (index: number): number => (index * width) / count;
  const y = (value: number): number => height - (value * (height - 2)) / top;
  const said = series.map((one) => seriesText(one, unit)).join("; ");
  const isEmpty = series.every(({ values }) => values.every((value) => value === null));
  if (isEmpty)
    return html`<figure><figcaption>${title}</figcaption><p class="next">Nothing of it is known.</p></figure>
`;
  return html`<figure><figcaption>${title}</figcaption>
<div class="axis" aria-hidden="true"><span>0 to ${top.toLocaleString("en-US")} ${unit}</span></div>
<svg class="chart" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title}, ${unit}: ${said}"><path class="grid" d="M0 ${place(y(top / 2))}H${width}"/>${series.map((one) => drawn(one, x, y))}</svg>
<div class="axis" aria-hidden="true"><span>${timeText(from)}</span><span>${timeText(from + count * stepSeconds)} UTC</span></div>
<ul class="key">${series.map((one) => html`<li>${swatch(one)}${seriesText(one, unit)}</li>\n`)}</ul>
${numbers(chart)}</figure>
`;
}

/** Draws a series: what is held and used is a filled area, and what it is compared with is a line. */
function drawn({ look, values }: PastSeries, x: (index: number) => number, y: (value: number) => number): Html {
  const paths = knownRuns(values).map(([from, run]) => {
    const line = linePath(stepPoints(from, run, x, y));
    const isFilled = look === "allocated" || look === "active";
    const area = isFilled ? html`<path class="area-${look}" d="${line}V${height}H${place(x(from))}Z"/>` : html``;
    return html`${area}<path class="line-${look}" d="${line}"/>`;
  });
  return html`${paths}`;
}

/** A sample of how a series is drawn, to be shown beside its name. */
function swatch({ look }: PastSeries): Html {
  const mark =
    look === "allocated" || look === "active"
      ? html`<path class="area-${look} line-${look}" d="M0 0H20V20H0Z"/>`
      : html`<path class="line-${look}" d="M0 10H20"/>`;
  return html`<svg class="chart swatch" viewBox="0 0 20 20" aria-hidden="true">${mark}</svg>`;
}

/** Writes a series in words: `allocated: 31.0 GPUs in the last step, 28.4 on average, at most 40.0`. */
function seriesText({ name, values }: PastSeries, unit: PastChart["unit"]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${name}: unknown`;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const last = values.at(-1) ?? null;
  const often = known.length < values.length ? `, known of ${known.length} of ${values.length} steps` : "";
  return `${name}: ${amount(last)} ${unit} in the last step, ${amount(mean)} on average, at most ${amount(Math.max(...known))}${often}`;
}

const amount = (value: number | null): string => (value === null ? "unknown" : gpus(value));

/** The numbers behind a drawing as a table; for a week, one step in six. */
function numbers({ title, series, from, stepSeconds }: PastChart): Html {
  const count = series[0]?.values.length ?? 0;
  const stride = count > 48 ? 6 : 1;
  const rows = Array.from({ length: Math.ceil(count / stride) }, (_, i) => i * stride).map(
    (i) =>
      html`<tr><th scope="row">${timeText(from + i * stepSeconds)}</th>${series.map(({ values }) => html`<td class="number">${values[i] == null ? "–" : gpus(values[i])}</td>`)}</tr>\n`,
  );
  const every = stride === 1 ? "" : `, one hour in ${stride}`;
  return html`<details><summary>Numbers${every}</summary><table><caption class="next">${title}${every}</caption><thead><tr><th scope="col">from (UTC)</th>${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead><tbody>
${rows}</tbody></table></details>
`;
}

/** The parts of one window as one bar: each series is as long as its part of the window. */
function spanFigure({ title, stepSeconds, series }: PastChart): Html {
  const hours = stepSeconds / 3600;
  if (series.length === 0)
    return html`<figure><figcaption>${title}</figcaption><p>None: it was not idle, cordoned or not ready for an hour or longer.</p></figure>
`;
  const texts = series.map(({ name, values }) => `${name} ${amount(values[0] ?? null)} h of ${hours} h`);
  let from = 0;
  const pieces = series.map(({ values }, i) => {
    const part = Math.min(1000 - from, ((values[0] ?? 0) / hours) * 1000);
    const piece = html`<rect class="wasted" x="${place(from)}" y="0" width="${place(part)}" height="10"><title>${texts[i] ?? ""}</title></rect>`;
    from += part;
    return piece;
  });
  return html`<figure><figcaption>${title}</figcaption>
<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="${title}: ${texts.join(", ")}">${pieces}</svg>
<div class="axis" aria-hidden="true"><span>0 h</span><span>${hours} h</span></div>
<ul class="key">${texts.map((text) => html`<li>${text}</li>\n`)}</ul></figure>
`;
}

const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
