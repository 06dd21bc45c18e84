import type { Analysis } from "../../analysis/analysis.ts";
import { type AllTeams, type TeamRow, type TeamRows, teamRows } from "../overview/teamRows.ts";
import { gpus, percent } from "../terminal/columns.ts";
import { costText } from "../terminal/costText.ts";
import { allocatedText, hasStalled, notAllocatedText, signed, waitText } from "../terminal/teamTable.ts";
import { type Html, html } from "./html.ts";
import { listPath, nameLink } from "./links.ts";

/** Teams beyond these are on the page of all teams. */
const shownTeams = 100;

/** Who holds what, uses it, waits, and is entitled to what: the table of the terminal, with each team as a link. */
export function teamSection(analysis: Analysis): Html {
  const known = teamRows(analysis);
  const { rows, all } = known;
  const shown = mostFirst(rows).slice(0, shownTeams);
  const rest = rows.length - shown.length;
  return html`<section id="teams"><h2>Who holds what</h2>
${rows.length === 0 ? nobody(analysis) : teamTableHtml(known, shown, rows.length > 1 ? all : null)}
${rest > 0 ? html`<p>${rest} more: <a href="${listPath("team")}">all teams</a></p>` : html``}${notes(known)}</section>
`;
}

/** The table of some teams, each a link; `all`: the line of sums below them, if any. */
export function teamTableHtml(known: TeamRows, rows: readonly TeamRow[], all: AllTeams | null): Html {
  const columns = columnsOf(known);
  const heads = columns.map(({ heading, isText }) =>
    isText ? html`<th scope="col" class="words">${heading}</th>` : html`<th scope="col" class="number">${heading}</th>`,
  );
  const lines = rows.map(
    (row) =>
      html`<tr id="team-${encodeURIComponent(row.team.toWellFormed())}"><th scope="row">${nameLink("team", row.team, 60)}</th>${columns.map(({ of, isText }) => cell(of(row), isText))}</tr>\n`,
  );
  const foot =
    all === null
      ? html``
      : html`<tfoot><tr><th scope="row">all</th>${columns.map(({ ofAll, isText }) => cell(ofAll(all), isText))}</tr></tfoot>`;
  // Where it is wider than a phone it scrolls by itself; who has no pointer reaches it with the Tab key.
  return html`<div class="wide" tabindex="0" role="region" aria-label="Teams and their GPUs"><table><thead><tr><th scope="col">team (GPUs)</th>${heads}</tr></thead><tbody>
${lines}</tbody>${foot}</table></div>
`;
}

/** Those who hold the most first; of those who hold the same, who waits for the most. */
export function mostFirst(rows: readonly TeamRow[]): readonly TeamRow[] {
  return rows.toSorted(
    (one, other) => other.allocated - one.allocated || (other.wait?.gpus ?? 0) - (one.wait?.gpus ?? 0),
  );
}

interface TeamColumn {
  readonly heading: string;
  readonly of: (row: TeamRow) => string;
  readonly ofAll: (all: AllTeams) => string;
  readonly isText?: boolean;
}

/** The columns that have something to say. */
function columnsOf(known: TeamRows): readonly TeamColumn[] {
  const { withShares, currency } = known;
  const amount = (value: number | null): string => (value === null ? "–" : gpus(value));
  const shares: readonly TeamColumn[] = [
    { heading: "entitled", of: ({ entitled }) => amount(entitled), ofAll: ({ entitled }) => amount(entitled) },
  ];
  const deviations: readonly TeamColumn[] = [
    { heading: "deviation", of: ({ deviation }) => (deviation === null ? "–" : signed(deviation)), ofAll: () => "" },
  ];
  const inState = (state: "idle" | "stalled"): TeamColumn => ({
    heading: state,
    of: ({ states }) => gpus(states[state] ?? 0),
    ofAll: ({ states }) => gpus(states[state] ?? 0),
  });
  return [
    ...(withShares ? shares : []),
    { heading: "allocated", of: allocatedText, ofAll: ({ allocated }) => gpus(allocated) },
    { heading: "active", of: ({ active }) => gpus(active), ofAll: ({ active }) => gpus(active) },
    inState("idle"),
    ...(hasStalled(known) ? [inState("stalled")] : []),
    { heading: "use", of: ({ utilization }) => percent(utilization), ofAll: () => "" },
    ...(withShares ? deviations : []),
    {
      heading: "waiting",
      of: ({ wait }) => waitText(wait),
      ofAll: ({ waiting }) => (waiting > 0 ? gpus(waiting) : "-"),
      isText: true,
    },
    ...(currency === null
      ? []
      : [
          {
            heading: "cost/h",
            of: ({ cost }: TeamRow) => costText(cost, currency),
            ofAll: ({ cost }: AllTeams) => costText(cost, currency),
          },
        ]),
  ];
}

const cell = (text: string, isText = false): Html =>
  isText ? html`<td class="words">${text}</td>` : html`<td class="number">${text}</td>`;

function notes(known: TeamRows): Html {
  const { estimated, allocated } = known.all;
  const rest = notAllocatedText(known);
  const texts = [
    ...(rest === null ? [] : [`${rest} per hour.`]),
    ...(estimated > 1e-9
      ? [`~ Of ${gpus(allocated)} allocated GPUs, the device or its split is estimated for ${gpus(estimated)}.`]
      : []),
  ];
  return html`${texts.map((text) => html`<p class="next">${text}</p>\n`)}`;
}

const nobody = ({ snapshot }: Analysis): Html =>
  snapshot.coverage.objects
    ? html`<p>Nobody holds or waits for a GPU.</p>`
    : html`<p class="warning">It is not known: no pods were read, and no row of telemetry names one.</p>`;
