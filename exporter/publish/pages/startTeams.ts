import type { Analysis } from "../../analysis/analysis.ts";
import { estimatedText, notAllocatedText, teamColumns } from "../overview/teamColumns.ts";
import { type AllTeams, type TeamRow, type TeamRows, teamRows } from "../overview/teamRows.ts";
import { type Head, type Html, html, moreLink, wideTable } from "./html.ts";
import { listPath, nameLink } from "./links.ts";

/** The most teams of the table; those beyond are on the page of all teams. */
const shownTeams = 100;

/** What each team holds, uses, waits for and is entitled to: the table of the terminal, with each team as a link. */
export function teamSection(analysis: Analysis): Html {
  const known = teamRows(analysis);
  const { rows, all } = known;
  const shown = mostFirst(rows).slice(0, shownTeams);
  const rest = rows.length - shown.length;
  return html`<section id="teams"><h2>Who holds what</h2>
${rows.length === 0 ? nobody(analysis) : teamTableHtml(known, shown, rows.length > 1 ? all : null)}
${moreLink(rest, listPath("team"), "all teams")}${notes(known)}</section>
`;
}

/** The table of some teams, each with a link; `all` has the sums for a line below them, and is `null` if there is none. */
export function teamTableHtml(known: TeamRows, rows: readonly TeamRow[], all: AllTeams | null): Html {
  const columns = teamColumns(known);
  const heads = columns.map(({ heading, isText }): Head => [heading, isText ? "words" : "number"]);
  const lines = rows.map(
    (row) =>
      html`<tr id="team-${encodeURIComponent(row.team.toWellFormed())}"><th scope="row">${nameLink("team", row.team, 60)}</th>${columns.map(({ of, isText }) => cell(of(row), isText))}</tr>\n`,
  );
  const foot =
    all === null
      ? html``
      : html`<tfoot><tr><th scope="row">all</th>${columns.map(({ ofAll, isText }) => cell(ofAll(all), isText))}</tr></tfoot>`;
  return html`${wideTable("Teams and their GPUs", ["team (GPUs)", ...heads], lines, { foot })}\n`;
}

/** Sorts teams: those that hold the most come first, and of those that hold the same, the one that waits for the most. */
export function mostFirst(rows: readonly TeamRow[]): readonly TeamRow[] {
  return rows.toSorted(
    (one, other) => other.allocated - one.allocated || (other.wait?.gpus ?? 0) - (one.wait?.gpus ?? 0),
  );
}

const cell = (text: string, isText = false): Html =>
  isText ? html`<td class="words">${text}</td>` : html`<td class="number">${text}</td>`;

function notes(known: TeamRows): Html {
  const rest = notAllocatedText(known);
  const estimated = estimatedText(known);
  return html`${rest === null ? html`` : html`<p class="next">${rest} per hour.</p>\n`}${
    estimated === null ? html`` : html`<p class="next">~ Of ${estimated}.</p>\n`
  }`;
}

const nobody = ({ snapshot }: Analysis): Html =>
  snapshot.coverage.objects
    ? html`<p>Nobody holds or waits for a GPU.</p>`
    : html`<p class="warning">It is not known: no pods were read, and no row of telemetry names one.</p>`;
