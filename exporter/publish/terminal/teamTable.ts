import type { Analysis } from "../../analysis/analysis.ts";
import { estimatedText, notAllocatedText, teamColumns } from "../overview/teamColumns.ts";
import { type TeamRows, teamRows } from "../overview/teamRows.ts";
import { plainText, tableLines } from "./columns.ts";

/** The most letters of a team's name. Names are cut down to `shortestTeam` where large amounts need the space. */
const longestTeam = 24;
const longestWideTeam = 60;
const shortestTeam = 8;

/**
 * What is left out for a narrow terminal, one more thing each time until the table fits: the ages of waits, then whole columns.
 */
const narrower: readonly (readonly string[])[] = [
  [],
  ["ages"],
  ["ages", "use"],
  ["ages", "use", "underutilized"],
  ["ages", "use", "underutilized", "not usable", "other"],
];

/**
 * The table of what each team holds, uses and waits for, and, where there are queues, what it is entitled to, in lines of at
 * most `width` columns.
 */
export function teamTable(analysis: Analysis, width: number): readonly string[] {
  const known = teamRows(analysis);
  const fitting = known.rows.length > 0 ? fittingLines(known, width) : [nobody(analysis)];
  const note = estimatedText(known);
  const rest = notAllocatedText(known);
  return [
    "WHO HOLDS WHAT (GPUs)",
    ...fitting,
    ...(rest === null ? [] : [rest.padStart(widthOf(fitting))]),
    ...(note === null ? [] : [`  ~ of ${note}`]),
  ];
}

/** The lines of the table with as many columns as fit. */
function fittingLines(known: TeamRows, width: number): readonly string[] {
  let lines: readonly string[] = [];
  for (const without of narrower) {
    lines = linesOf(known, without, width > 100 ? longestWideTeam : longestTeam);
    const excess = widthOf(lines) - width;
    if (excess <= 0) return lines;
    const names = widthOf(known.rows.map(({ team }) => plainText(team, longestWideTeam)));
    lines = linesOf(known, without, Math.max(shortestTeam, Math.min(longestTeam, names) - excess));
    if (widthOf(lines) <= width) return lines;
  }
  return lines;
}

function linesOf(known: TeamRows, without: readonly string[], longestName: number): readonly string[] {
  const { rows, all, withShares } = known;
  const columns = teamColumns(known, { withAllStates: true, hasAges: !without.includes("ages") }).filter(
    ({ heading }) => !without.includes(heading),
  );
  return tableLines(
    [
      { heading: "team", align: "left" },
      ...columns.map(({ heading, isText }) => ({ heading, align: isText ? "left" : "right" }) as const),
    ],
    [
      ...rows.map((row) => [plainText(row.team, longestName), ...columns.map(({ of }) => of(row))]),
      ...(withShares && rows.length > 1 ? [["all", ...columns.map(({ ofAll }) => ofAll(all))]] : []),
    ],
  );
}

const widthOf = (lines: readonly string[]): number => Math.max(...lines.map((line) => line.length));

const nobody = ({ snapshot }: Analysis): string =>
  snapshot.coverage.objects
    ? "  nobody holds or waits for a GPU"
    : "  not known: no pods were read, and no telemetry row names one";
