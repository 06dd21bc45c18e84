import { counted } from "../../exporter/publish/advice/adviceWords.ts";
import { type Html, html } from "../../exporter/publish/http/html.ts";
import type { Review } from "../document/review.ts";
import type { Tile } from "../document/tiles.ts";
import { tileChange, tileItem, tileUnit, tileValue } from "../sections/tiles.ts";
import { spokenText } from "../words/figureText.ts";
import { longText, nameText } from "../words/names.ts";
import { knownRuns, linePath, type Point } from "./geometry.ts";
import { figureAttributes } from "./pieces.ts";

/** The numbers of a window, each beside those of the periods before, and who can act on a change. */
export function tileList({ tiles, window }: Review): Html {
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
  // Amounts are compared by the hour that is covered: a week with gaps is no smaller week.
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
