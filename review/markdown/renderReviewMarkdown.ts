import { markdownLine, markdownText } from "../../exporter/publish/advice/markdownText.ts";
import type { Review } from "../document/review.ts";
import { actionTable, lastActionTable, notAdvisedTable, trackTable } from "../sections/actions.ts";
import { decisionTable, undecidedTexts } from "../sections/decisions.ts";
import { demandTable, domainItem, oneMoreNodeSentence } from "../sections/demand.ts";
import { faultTable, outageTable } from "../sections/faults.ts";
import { coverageTable, headSentences, isCovered, noteTexts } from "../sections/head.ts";
import { headline } from "../sections/headline.ts";
import { jobsByCost, jobsByWaste, jobsSentence } from "../sections/jobs.ts";
import { isOfNoTeam, missingText } from "../sections/missing.ts";
import { fragmentationTable, idlePoolTable, streakTable } from "../sections/nodes.ts";
import { paidForNothing } from "../sections/paidForNothing.ts";
import { runwayTable } from "../sections/runway.ts";
import type { Column, Piece, Table } from "../sections/section.ts";
import { servingTable } from "../sections/serving.ts";
import { startTimesTable } from "../sections/startTimes.ts";
import { budgetTable, fairnessTable, goodputTable, teamTable } from "../sections/teams.ts";
import { termsSentence, tileTable } from "../sections/tiles.ts";
import { topologyTable } from "../sections/topology.ts";
import { waitsByQueue, waitsBySize } from "../sections/waits.ts";
import { wasteTable } from "../sections/waste.ts";
import { bareText, figureText, spokenText } from "../words/figureText.ts";
import { nameText, teamText } from "../words/names.ts";
import { minuteText, windowText } from "../words/times.ts";

/** The most rows of each table, few because readers of a pull request or a chat have no patience. The CSV has all. */
const most = { waste: 40, teams: 10, waits: 8, nodes: 5, domains: 8, jobs: 5, actions: 5 } as const;

/** A review as Markdown, for a pull request or a chat. */
export function renderReviewMarkdown(review: Review): string {
  const { clusters, team, window } = review;
  const heading = team === null ? "GPU capacity review" : `GPU review of ${teamText(team)}`;
  const where = clusters.slice(0, 12).map(nameText).join(", ");
  const more = clusters.length > 12 ? ` and ${clusters.length - 12} more` : "";
  const lines = [
    `# ${markdownText(`${heading}, ${nameText(window.label)}`)}`,
    "",
    markdownLine(
      `${where}${more}, ${windowText(window)}${window.isOver ? "" : ", not over yet"}, written ${minuteText(review.writtenAt)}`,
    ),
    "",
    ...headSentences(review).map(({ pieces }) => `- ${markdownSentence(pieces)}`),
    "",
    ...(isCovered(review) ? numbers(review) : []),
    ...notes(review),
  ];
  return `${lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trimEnd()}\n`;
}

function numbers(review: Review): readonly string[] {
  const coverage = coverageTable(review);
  const said = jobsSentence(review);
  return [
    ...headline(review).flatMap(({ pieces }) => [markdownSentence(pieces), ""]),
    ...markdownTable(tileTable(review), 10),
    markdownSentence(termsSentence(review).pieces),
    "",
    ...(coverage === null ? [] : markdownTable(coverage, 20)),
    "## Decide today",
    "",
    ...tables([[decisionTable(review), most.actions]]),
    ...undecidedTexts(review).map((text) => `- ${markdownText(`Not among them: ${text}`)}`),
    "",
    ...part(review, "What to do", [
      [actionTable(review), most.actions],
      [notAdvisedTable(review), most.nodes],
    ]),
    ...part(review, "Where the GPU time went", [[wasteTable(review), most.waste]]),
    ...part(review, "Teams", [
      [teamTable(review), most.teams],
      [goodputTable(review), most.teams],
      [fairnessTable(review), most.teams],
      [budgetTable(review), most.teams],
    ]),
    ...clusterPart(review, "Demand and runway", [
      [demandTable(review), most.domains],
      [runwayTable(review), most.domains],
    ]),
    ...(review.demand ?? []).slice(0, most.domains).flatMap((one) => {
      const node = oneMoreNodeSentence(one);
      return node === null ? [] : [`- ${markdownText(`${domainItem(one.domain)}: `)}${markdownSentence(node.pieces)}`];
    }),
    "",
    ...part(review, "Waits to start", [
      [waitsBySize(review), most.waits],
      [waitsByQueue(review), most.waits],
    ]),
    ...clusterPart(review, "Idle nodes and fragmentation", [
      [idlePoolTable(review), most.nodes],
      [streakTable(review), most.nodes],
      [fragmentationTable(review), most.domains],
    ]),
    ...unlessNone(review, "Did work start when foreseen", startTimesTable(review), most.jobs),
    ...unlessNone(review, "Gangs and topology", topologyTable(review), most.domains),
    ...unlessNone(review, "Paid for, and did nothing", paidForNothing(review), most.nodes),
    ...clusterPart(review, "Faults", [
      [faultTable(review), most.nodes],
      [outageTable(review), most.nodes],
    ]),
    ...unlessNone(review, "Serving", servingTable(review), most.jobs),
    "## Jobs",
    "",
    ...(said === null ? [missingText(review), ""] : [markdownSentence(said.pieces), ""]),
    ...tables([
      [jobsByCost(review), most.jobs],
      [jobsByWaste(review), most.jobs],
    ]),
    ...part(review, "What became of earlier advice", [
      [lastActionTable(review), most.actions],
      [trackTable(review), most.actions],
    ]),
  ];
}

/** A part of the text that is left out if it has no table. */
const unlessNone = (review: Review, heading: string, table: Table | null, rows: number): readonly string[] =>
  table === null ? [] : part(review, heading, [[table, rows]]);

type Shown = readonly (readonly [Table | null, number])[];

function part(review: Review, heading: string, shown: Shown): readonly string[] {
  const lines = tables(shown);
  return [`## ${heading}`, "", ...(lines.length === 0 ? [missingText(review), ""] : lines)];
}

/** A part of the text about the whole cluster, which a review of one team leaves out. */
function clusterPart(review: Review, heading: string, shown: Shown): readonly string[] {
  return isOfNoTeam(review, shown.find(([table]) => table !== null) ?? null) ? [] : part(review, heading, shown);
}

function tables(shown: Shown): readonly string[] {
  const known = shown.flatMap(([table, rows]) => (table === null ? [] : [[table, rows] as const]));
  return known.flatMap(([table, rows]) => [`**${markdownText(table.caption)}**`, "", ...markdownTable(table, rows)]);
}

/** The first rows of a table in GitHub's Markdown; rows that are left out are counted. */
function markdownTable({ rowHeading, columns, rows }: Table, most: number): readonly string[] {
  if (rows.length === 0) return ["None.", ""];
  const shown = rows.slice(0, most);
  const rest = rows.length - shown.length;
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line([markdownText(rowHeading), ...columns.map(headingText)]),
    `|---|${columns.map(({ align }) => (align === "right" ? "---:|" : "---|")).join("")}`,
    ...shown.map(({ head, cells, isPart }) =>
      line([
        `${isPart === true ? "− " : ""}${markdownText(head)}`,
        ...columns.map((column, i) => cellText(cells[i] ?? [], column)),
      ]),
    ),
    ...(rest > 0 ? ["", `${rest} more: see the CSV.`] : []),
    "",
  ];
}

function headingText({ heading, unit }: Column): string {
  return markdownText(unit === null || heading.includes(unit) ? heading : `${heading}, ${unit}`);
}

function cellText(pieces: readonly Piece[], { unit }: Column): string {
  const text = pieces.map((piece) =>
    typeof piece === "string" ? piece : unit === null ? figureText(piece) : bareText(piece),
  );
  return markdownText(text.join(""));
}

/** A sentence with its numbers as Markdown. */
function markdownSentence(pieces: readonly Piece[]): string {
  return markdownText(pieces.map((piece) => (typeof piece === "string" ? piece : spokenText(piece))).join(""));
}

function notes(review: Review): readonly string[] {
  const texts = noteTexts(review);
  if (texts.length === 0) return [];
  const rest = texts.length - 10;
  return [
    "## Before you trust a number",
    "",
    ...texts.slice(0, 10).map((text) => `- ${markdownText(text)}`),
    ...(rest > 0 ? [`- and ${rest} more: see the JSON`] : []),
    "",
  ];
}
