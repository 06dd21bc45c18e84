import type { Analysis } from "../../analysis/analysis.ts";
import type { NeverReason } from "../../join/queues/queueing.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import { type TeamRow, type TeamRows, type TeamWait, teamRows } from "../overview/teamRows.ts";
import { type Column, duration, gpus, percent, plainText, tableLines } from "./columns.ts";
import { costText, money } from "./costText.ts";

const name: Column = { heading: "team", align: "left" };
const waiting: Column = { heading: "waiting", align: "left" };
const right = (heading: string): Column => ({ heading, align: "right" });

/** A column only where something is stalled: it seldom is, and the lines are full. */
const stalledColumn = (isThere: boolean): readonly string[] => (isThere ? ["stalled"] : []);

const columnsOfUse = (withStalled: boolean): readonly Column[] => [
  name,
  ...[
    "allocated",
    "active",
    "underutilized",
    "idle",
    ...stalledColumn(withStalled),
    "not usable",
    "unobserved",
    "use",
  ].map(right),
  waiting,
];

/** The same with costs, for which two columns give way. */
const columnsOfUseAndCost = (withStalled: boolean): readonly Column[] => [
  name,
  ...["allocated", "active", "underutilized", "idle", ...stalledColumn(withStalled), "other", "use"].map(right),
  waiting,
];

const cost = right("cost/h");

const columnsOfShares = (withStalled: boolean): readonly Column[] => [
  name,
  ...["entitled", "allocated", "active", "idle", ...stalledColumn(withStalled), "use", "deviation"].map(right),
  waiting,
];

/** Bound but not theirs to use: gangs that wait, containers that start, nodes that are down. */
const notUsable: readonly GpuState[] = ["gang_wait", "starting", "unavailable"];

/** Letters of a team's name: what large amounts need is taken from the names. */
const longestTeam = 24;
const longestWideTeam = 60;
const shortestTeam = 8;

/** What a narrow terminal goes without, one more each time, until the table fits: the ages of waits, then whole columns. */
const narrower: readonly (readonly string[])[] = [
  [],
  ["ages"],
  ["ages", "use"],
  ["ages", "use", "underutilized"],
  ["ages", "use", "underutilized", "not usable", "other"],
];

/** Who holds what, uses it, waits, and, where there are queues, is entitled to what, in lines of at most this many columns. */
export function teamTable(analysis: Analysis, width: number): readonly string[] {
  const known = teamRows(analysis);
  const columns = columnsFor(known);
  const rowsFor = (longestName: number, hasAges: boolean) =>
    (known.withShares ? rowsOfShares : rowsOfUse)(known, longestName, hasAges);
  const fitting = known.rows.length > 0 ? fittingLines(columns, rowsFor, width) : [nobody(analysis)];
  const { estimated, allocated } = known.all;
  const note =
    estimated > 1e-9
      ? [`  ~ of ${gpus(allocated)} allocated GPUs, the device or its split is estimated for ${gpus(estimated)}`]
      : [];
  const rest = notAllocatedText(known);
  const notAllocated = rest === null ? [] : [rest.padStart(Math.max(...fitting.map((line) => line.length)))];
  return ["WHO HOLDS WHAT (GPUs)", ...fitting, ...notAllocated, ...note];
}

/** The table with as much as fits. */
function fittingLines(
  columns: readonly Column[],
  rowsFor: (longestName: number, hasAges: boolean) => readonly (readonly string[])[],
  width: number,
): readonly string[] {
  let lines: readonly string[] = [];
  for (const without of narrower) {
    const isShown = (_: unknown, i: number): boolean => !without.includes(columns[i]?.heading ?? "");
    const linesFor = (longestName: number): readonly string[] =>
      tableLines(
        columns.filter(isShown),
        rowsFor(longestName, !without.includes("ages")).map((row) => row.filter(isShown)),
      );
    lines = linesFor(width > 100 ? longestWideTeam : longestTeam);
    const excess = widthOf(lines) - width;
    if (excess <= 0) return lines;
    const names = Math.max(...rowsFor(longestWideTeam, false).map(([team = ""]) => team.length));
    lines = linesFor(Math.max(shortestTeam, Math.min(longestTeam, names) - excess));
    if (widthOf(lines) <= width) return lines;
  }
  return lines;
}

const widthOf = (lines: readonly string[]): number => Math.max(...lines.map((line) => line.length));

const nobody = ({ snapshot }: Analysis): string =>
  snapshot.coverage.objects
    ? "  nobody holds or waits for a GPU"
    : "  not known: no pods were read, and no telemetry row names one";

function columnsFor(known: TeamRows): readonly Column[] {
  const withStalled = hasStalled(known);
  if (known.currency === null) return (known.withShares ? columnsOfShares : columnsOfUse)(withStalled);
  return [...(known.withShares ? columnsOfShares : columnsOfUseAndCost)(withStalled), cost];
}

/** Whether a team holds GPUs that are stalled: a column of its own is worth it then. */
export const hasStalled = ({ rows }: Pick<TeamRows, "rows">): boolean =>
  rows.some(({ states }) => (states.stalled ?? 0) > 1e-9);

const sumOf = (states: Readonly<Partial<Record<GpuState, number>>>, wanted: readonly GpuState[]) =>
  gpus(wanted.reduce((sum, state) => sum + (states[state] ?? 0), 0));

/** `16.0`, or `16.0~` where the device or the split of some of it is estimated. */
export const allocatedText = ({ allocated, estimated }: Pick<TeamRow, "allocated" | "estimated">): string =>
  `${gpus(allocated)}${estimated > 1e-9 ? "~" : ""}`;

function rowsOfUse(known: TeamRows, longestName: number, hasAges: boolean): readonly (readonly string[])[] {
  const { rows, currency } = known;
  const withStalled = hasStalled(known);
  return rows.map((row) => [
    plainText(row.team, longestName),
    allocatedText(row),
    gpus(row.active),
    sumOf(row.states, ["underutilized"]),
    sumOf(row.states, ["idle"]),
    ...(withStalled ? [sumOf(row.states, ["stalled"])] : []),
    ...(currency === null
      ? [sumOf(row.states, notUsable), sumOf(row.states, ["unobserved"])]
      : [sumOf(row.states, [...notUsable, "unobserved"])]),
    percent(row.utilization),
    waitText(row.wait, hasAges),
    ...(currency === null ? [] : [costText(row.cost, currency)]),
  ]);
}

function rowsOfShares(known: TeamRows, longestName: number, hasAges: boolean): readonly (readonly string[])[] {
  const { rows, all, currency } = known;
  const withStalled = hasStalled(known);
  const lines = rows.map((row) => [
    plainText(row.team, longestName),
    row.entitled === null ? "–" : gpus(row.entitled),
    allocatedText(row),
    gpus(row.active),
    sumOf(row.states, ["idle"]),
    ...(withStalled ? [sumOf(row.states, ["stalled"])] : []),
    percent(row.utilization),
    row.deviation === null ? "–" : signed(row.deviation),
    waitText(row.wait, hasAges),
    ...(currency === null ? [] : [costText(row.cost, currency)]),
  ]);
  if (rows.length < 2) return lines;
  const sums = [
    "all",
    all.entitled === null ? "–" : gpus(all.entitled),
    gpus(all.allocated),
    gpus(all.active),
    sumOf(all.states, ["idle"]),
    ...(withStalled ? [sumOf(all.states, ["stalled"])] : []),
    "",
    "",
    all.waiting > 0 ? gpus(all.waiting) : "-",
    ...(currency === null ? [] : [costText(all.cost, currency)]),
  ];
  return [...lines, sums];
}

/** `+ $ 268 not allocated`; `null` where that is nothing or not known. */
export function notAllocatedText({ notAllocatedPerHour, currency }: TeamRows): string | null {
  if (notAllocatedPerHour === null || currency === null) return null;
  return `+ ${money(notAllocatedPerHour, currency)} not allocated`;
}

/** An amount with its sign; what rounds to nothing has none. */
export function signed(amount: number): string {
  if (Math.abs(amount) < 0.005) return "0.0";
  return amount > 0 ? `+${gpus(amount)}` : gpus(amount);
}

const neverWords: Readonly<Record<NeverReason, string>> = {
  paused: "paused",
  "above-limit": "above limit",
  "no-node": "no node fits",
  "no-queue": "no queue",
  "limit-range": "refused by a LimitRange",
  elsewhere: "for another cluster",
  "no-scheduler": "no such scheduler",
  unschedulable: "unschedulable",
};

/** `16.0 for 42 min`, `8.0 (no node fits)`; `-` where nothing waits. */
export function waitText(wait: TeamWait | null, hasAge = true): string {
  if (wait === null) return "-";
  const amount = wait.gpus > 0 ? `${gpus(wait.gpus)}${wait.isUnknown ? "+?" : ""}` : "unknown";
  if (wait.never !== null) return `${amount} (${neverWords[wait.never]})`;
  return wait.ageSeconds === null || !hasAge ? amount : `${amount} for ${duration(wait.ageSeconds)}`;
}
