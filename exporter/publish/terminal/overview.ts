import type { Analysis } from "../../analysis/analysis.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import type { Problem } from "../../model/problem.ts";
import { type Advice, noAdvice } from "../../model/recommendation.ts";
import { counted } from "../advice/adviceWords.ts";
import { momentOf } from "../document/order.ts";
import { clusterRow, type PoolRow, poolRows } from "../overview/poolRows.ts";
import { type ProblemGroup, problemGroups } from "../problemGroups.ts";
import { stateNames } from "../stateNames.ts";
import { adviceSection } from "./adviceLines.ts";
import { gpus, percent, plainText, utc, wholeGpus } from "./columns.ts";
import { priceTexts } from "./costText.ts";
import { dispatchedLines, heldBackLines } from "./heldBackLines.ts";
import { idleNodeLines } from "./idleNodeLines.ts";
import { fold, type Line, layOut, plainTerminal, type Terminal } from "./layout.ts";
import { type OverviewText, type SectionName, sectionNames } from "./overviewSchema.ts";
import { placementLines } from "./placementLines.ts";
import { deadlockLines, findingLines, shortLines } from "./queueLines.ts";
import { teamTable } from "./teamTable.ts";

/** Cells of the bar by state: used GPUs are solid, wasted ones lighter, and those that cannot be used are marked. */
const barCells: Readonly<Record<GpuState, string>> = {
  active: "█",
  underutilized: "▓",
  idle: "░",
  stalled: "▒",
  starting: "s",
  gang_wait: "g",
  unobserved: "?",
  unattributed: "!",
  free: "·",
  idle_node: "·",
  cordoned: "x",
  unavailable: "x",
};

/** How many cells a bar has: 24 in a terminal of up to 100 columns, and more in a wider one. */
const barWidth = (columns: number): number => 24 + Math.max(0, Math.floor((columns - 100) / 4));
const shownProblems = 8;
const shownNames = 3;

/**
 * The overview of one moment for a terminal: who holds what, who is short, where the GPUs are, and what is wrong. `problems`
 * are those of the snapshot, unless the caller knows of more.
 */
export function overview(
  analysis: Analysis,
  problems: readonly Problem[] = analysis.snapshot.problems,
  advice: Advice = noAdvice,
  terminal: Terminal = plainTerminal,
): string {
  return overviewSections(analysis, problems, advice, terminal.columns)
    .map(({ lines }) => layOut(lines, terminal))
    .join("\n\n");
}

/** A part of the overview. */
interface Section {
  readonly name: SectionName;
  readonly lines: readonly Line[];
}

/** The parts of the overview that have something to show, for a terminal of this many columns. */
function overviewSections(
  analysis: Analysis,
  problems: readonly Problem[],
  advice: Advice,
  columns: number,
): readonly Section[] {
  const lines: Readonly<Record<SectionName, readonly Line[]>> = {
    heading: heading(analysis, columns),
    teams: teamTable(analysis, columns),
    short: shortLines(analysis),
    pools: poolTable(analysis, columns),
    fits: placementLines(analysis),
    idle: idleNodeLines(analysis),
    advice: adviceSection(advice),
    checks: heldBackLines(analysis),
    elsewhere: dispatchedLines(analysis),
    deadlocks: deadlockLines(analysis.waiting.deadlocks),
    findings: findingLines(analysis.findings),
    problems: problemLines(problems),
  };
  return sectionNames.map((name) => ({ name, lines: lines[name] })).filter((section) => section.lines.length > 0);
}

function heading(analysis: Analysis, columns: number): readonly Line[] {
  const { snapshot } = analysis;
  const { nodes, physicalGpus: total, pools, observed, signal } = clusterRow(analysis);
  const shown = pools.slice(0, 4).map((p) => `${wholeGpus(p.physicalGpus)} ${plainText(p.pool, 24)}`);
  const models = pools.length > 4 ? [...shown, `${pools.length - 4} more`] : shown;
  const telemetry = observed === null ? "no GPUs" : `telemetry ${percent(observed)}`;
  const judged = signal === null ? "no activity signal" : `signal ${signal}`;
  return [
    `Fairlead  cluster ${plainText(snapshot.cluster, 40)}   ${counted(nodes, "node")}   ${wholeGpus(total)} ${total === 1 ? "GPU" : "GPUs"}   ${utc(snapshot.at)}`,
    ...[[models.join(", ") || "-", telemetry, judged], priceTexts(analysis)].flatMap((parts) =>
      wrap(parts, columns - 10).flatMap((line) => (line === "" ? [] : [`          ${line}`])),
    ),
  ];
}

function poolTable(analysis: Analysis, columns: number): readonly Line[] {
  const { rows, physicalGpus } = poolRows(analysis);
  const width = Math.max(4, ...rows.map((row) => plainText(row.pool, 24).length));
  const lines = rows.flatMap((row) => poolLines(row, width, columns));
  return [
    `WHERE THE GPUS ARE${`sums to ${gpus(physicalGpus)}`.padStart(60)}`,
    ...(lines.length > 0 ? lines : ["  no GPUs were found"]),
  ];
}

function poolLines(row: PoolRow, width: number, columns: number): readonly Line[] {
  const parts = row.parts.map((part) => `${stateNames[part.state]} ${gpus(part.gpus)}`);
  const head = `  ${plainText(row.pool, 24).padEnd(width)}  ${wholeGpus(row.physicalGpus).padStart(5)}  ${bar(row, barWidth(columns))}  `;
  const indent = " ".repeat(head.length);
  return wrap(parts, columns - head.length).map((line, i) => `${i === 0 ? head : indent}${line}`.trimEnd());
}

/** A bar of fixed width whose cells add up: the largest remainders get the cells that rounding leaves. */
function bar({ parts, physicalGpus }: PoolRow, width: number): string {
  const exact = parts.map(({ state, gpus: amount }) => ({ state, cells: (amount / physicalGpus) * width }));
  const cells = new Map(exact.map(({ state, cells: c }) => [state, Math.floor(c + 1e-9)] as const));
  let left =
    Math.round(exact.reduce((sum, e) => sum + e.cells, 0)) - [...cells.values()].reduce((sum, c) => sum + c, 0);
  for (const { state } of exact.toSorted((a, b) => (b.cells % 1) - (a.cells % 1))) {
    if (left <= 0) break;
    cells.set(state, (cells.get(state) ?? 0) + 1);
    left -= 1;
  }
  return exact.map(({ state }) => barCells[state].repeat(cells.get(state) ?? 0)).join("");
}

function wrap(parts: readonly string[], width: number): readonly Line[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 3 + part.length <= width) lines[lines.length - 1] = `${last}   ${part}`;
    else lines.push(part);
  }
  return lines.length > 0 ? lines : [""];
}

/** Problems with their next steps, the worst first; many of one kind are one line with three names. */
export function problemLines(problems: readonly Problem[]): readonly Line[] {
  if (problems.length === 0) return ["problems: none"];
  const groups = problemGroups(problems);
  const lines = groups
    .slice(0, shownProblems)
    .flatMap((group) => [
      ...fold(
        `  ${group.first.severity.padEnd(7)}  ${manyOf(group)}${plainText(group.first.message, 600)}`,
        "           ",
      ),
      ...fold(`           -> ${plainText(group.first.nextStep, 600)}`, "              "),
    ]);
  const rest = groups.slice(shownProblems).reduce((sum, { count }) => sum + count, 0);
  const isGrouped = groups.length < problems.length;
  const more =
    isGrouped || rest > 0 ? [`  ${rest > 0 ? `and ${rest} more: ` : ""}--output json lists all of them`] : [];
  return [`problems: ${problems.length}`, ...lines, ...more];
}

/** Says how many problems a group has: `64 like this (gpu-01, gpu-02, gpu-03, ...): `; empty for a single one. */
function manyOf({ count, subjects }: ProblemGroup): string {
  if (count === 1) return "";
  const names = subjects.slice(0, shownNames).map((name) => plainText(name, 60));
  const all = subjects.length > names.length ? [...names, "..."] : names;
  return `${count} like this${all.length > 0 ? ` (${all.join(", ")})` : ""}: `;
}

/** The overview of one moment as plain text, section by section. */
export function overviewRecord(
  analysis: Analysis,
  problems: readonly Problem[],
  advice: Advice,
  columns: number,
): OverviewText {
  return {
    at: momentOf(analysis.snapshot.at),
    sections: overviewSections(analysis, problems, advice, columns).map(({ name, lines }) => ({
      name,
      lines: layOut(lines, { ...plainTerminal, columns }).split("\n"),
    })),
  };
}
