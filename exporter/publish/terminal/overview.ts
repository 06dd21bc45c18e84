import type { Analysis } from "../../analysis/analysis.ts";
import type { PoolTotals } from "../../analysis/totals.ts";
import { type GpuState, gpuStates } from "../../model/gpuStates.ts";
import type { Problem } from "../../model/problem.ts";
import { type Advice, noAdvice } from "../../model/recommendation.ts";
import { type ProblemGroup, problemGroups } from "../problemGroups.ts";
import { stateNames } from "../stateNames.ts";
import { adviceSection } from "./adviceLines.ts";
import { gpus, percent, plainText } from "./columns.ts";
import { priceTexts } from "./costText.ts";
import { fold } from "./fold.ts";
import { dispatchedLines, heldBackLines } from "./heldBackLines.ts";
import { idleNodeLines } from "./idleNodeLines.ts";
import { placementLines } from "./placementLines.ts";
import { queueWarnings, shortLines } from "./queueLines.ts";
import { teamTable } from "./teamTable.ts";

/** Cells of the bar by state: what is used is solid, what is wasted is lighter, what cannot be used is marked. */
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

const barWidth = 24;
const shownProblems = 8;
const shownNames = 3;

/**
 * The overview of one moment for a terminal of 100 columns: who holds what, who is short, where the GPUs are, and what is
 * wrong.
 * `problems` are those of the snapshot, unless the caller knows of more.
 */
export function overview(
  analysis: Analysis,
  problems: readonly Problem[] = analysis.snapshot.problems,
  advice: Advice = noAdvice,
): string {
  const short = shortLines(analysis);
  return [
    ...heading(analysis),
    "",
    ...teamTable(analysis),
    "",
    ...section(short),
    ...poolTable(analysis),
    "",
    ...section(placementLines(analysis)),
    ...section(idleNodeLines(analysis)),
    ...section(adviceSection(advice)),
    ...heldBackLines(analysis),
    ...dispatchedLines(analysis),
    ...queueWarnings(analysis),
    ...problemLines(problems),
  ].join("\n");
}

/** A part of the overview with a blank line after it; nothing where it is empty. */
const section = (lines: readonly string[]): readonly string[] => (lines.length > 0 ? [...lines, ""] : []);

function heading(analysis: Analysis): readonly string[] {
  const { snapshot, pools, accountingEntries } = analysis;
  const total = pools.reduce((sum, pool) => sum + pool.physicalGpus, 0);
  const largest = [...pools].sort((a, b) => b.physicalGpus - a.physicalGpus);
  const shown = largest.slice(0, 4).map((p) => `${wholeGpus(p.physicalGpus)} ${plainText(p.pool, 24)}`);
  const models = largest.length > 4 ? [...shown, `${largest.length - 4} more`] : shown;
  const unobserved = accountingEntries
    .filter((b) => b.device === null || snapshot.devices[b.device]?.activity === null)
    .reduce((sum, b) => sum + b.gpus, 0);
  const telemetry = total > 0 ? `telemetry ${percent(1 - unobserved / total)}` : "no GPUs";
  const signal = snapshot.signal === null ? "no activity signal" : `signal ${snapshot.signal}`;
  const time = new Date(snapshot.at * 1000).toISOString().slice(0, 19).replace("T", " ");
  return [
    `Fairlead  cluster ${plainText(snapshot.cluster, 40)}   ${counted(snapshot.nodes.length, "node")}   ${wholeGpus(total)} ${total === 1 ? "GPU" : "GPUs"}   ${time} UTC`,
    `          ${models.join(", ") || "-"}   ${telemetry}   ${signal}`,
    ...wrap(priceTexts(analysis), 90).flatMap((line) => (line === "" ? [] : [`          ${line}`])),
  ];
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

const wholeGpus = (amount: number): string =>
  Math.abs(amount - Math.round(amount)) < 1e-6 ? String(Math.round(amount)) : amount.toFixed(1);

function poolTable({ pools }: Analysis): readonly string[] {
  const total = pools.reduce((sum, pool) => sum + pool.physicalGpus, 0);
  const width = Math.max(4, ...pools.map((pool) => plainText(pool.pool, 24).length));
  const lines = pools.flatMap((pool) => poolLines(pool, width));
  return [
    `WHERE THE GPUS ARE${`sums to ${gpus(total)}`.padStart(60)}`,
    ...(lines.length > 0 ? lines : ["  no GPUs were found"]),
  ];
}

function poolLines(pool: PoolTotals, width: number): readonly string[] {
  const parts = gpuStates
    .filter((state) => (pool.states[state] ?? 0) > 1e-9)
    .map((state) => `${stateNames[state]} ${gpus(pool.states[state] ?? 0)}`);
  const head = `  ${plainText(pool.pool, 24).padEnd(width)}  ${wholeGpus(pool.physicalGpus).padStart(5)}  ${bar(pool)}  `;
  const indent = " ".repeat(head.length);
  return wrap(parts, 100 - head.length).map((line, i) => `${i === 0 ? head : indent}${line}`.trimEnd());
}

/** A bar of fixed width whose cells add up: the largest remainders get the cells that rounding leaves. */
function bar(pool: PoolTotals): string {
  const exact = gpuStates.map((state) => ({
    state,
    cells: pool.physicalGpus > 0 ? ((pool.states[state] ?? 0) / pool.physicalGpus) * barWidth : 0,
  }));
  const cells = new Map(exact.map(({ state, cells: c }) => [state, Math.floor(c + 1e-9)] as const));
  let left =
    Math.round(exact.reduce((sum, e) => sum + e.cells, 0)) - [...cells.values()].reduce((sum, c) => sum + c, 0);
  for (const { state } of [...exact].sort((a, b) => (b.cells % 1) - (a.cells % 1))) {
    if (left <= 0) break;
    cells.set(state, (cells.get(state) ?? 0) + 1);
    left -= 1;
  }
  return gpuStates.map((state) => barCells[state].repeat(cells.get(state) ?? 0)).join("");
}

function wrap(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 3 + part.length <= width) lines[lines.length - 1] = `${last}   ${part}`;
    else lines.push(part);
  }
  return lines.length > 0 ? lines : [""];
}

/** Problems with their next steps, the worst first; many of one kind are one line with three names. */
export function problemLines(problems: readonly Problem[]): readonly string[] {
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

/** `64 like this (gpu-01, gpu-02, gpu-03, ...): `; nothing of a single one. */
function manyOf({ count, subjects }: ProblemGroup): string {
  if (count === 1) return "";
  const names = subjects.slice(0, shownNames).map((name) => plainText(name, 60));
  const all = subjects.length > names.length ? [...names, "..."] : names;
  return `${count} like this${all.length > 0 ? ` (${all.join(", ")})` : ""}: `;
}
