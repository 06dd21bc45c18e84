import type { Analysis } from "../../analysis/analysis.ts";
import { everyTeam } from "../../analysis/sums/everyTeam.ts";
import { teamEntitlements } from "../../analysis/sums/teamEntitlements.ts";
import type { TeamTotals } from "../../analysis/totals.ts";
import type { NeverReason } from "../../join/queues/queueing.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import { type Column, duration, gpus, percent, plainText, tableLines } from "./columns.ts";
import { type CostTexts, costTexts } from "./costText.ts";

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

/** Columns of the terminal, and of a team's name: what large amounts need is taken from the names. */
const width = 100;
const longestTeam = 24;
const shortestTeam = 8;

/** Who holds what, uses it, waits, and, where there are queues, is entitled to what. */
export function teamTable(analysis: Analysis): readonly string[] {
  const teams = everyTeam(analysis);
  const withShares = analysis.fairness.teams.length > 0 || analysis.snapshot.queueing.gangs.length > 0;
  const costs = costTexts(analysis);
  const columns = columnsFor(withShares, costs, hasStalled(teams));
  const rowsFor = (longestName: number) =>
    withShares ? rowsOfShares(analysis, costs, longestName) : rowsOfUse(analysis, costs, longestName);
  const rows = rowsFor(longestTeam);
  const lines = rows.length > 0 ? tableLines(columns, rows) : [nobody(analysis)];
  const excess = Math.max(...lines.map((line) => line.length)) - width;
  const names = Math.max(...rows.map(([team = ""]) => team.length));
  const fitting = excess > 0 ? tableLines(columns, rowsFor(Math.max(shortestTeam, names - excess))) : lines;
  const estimated = teams.reduce((sum, t) => sum + t.estimated, 0);
  const allocated = teams.reduce((sum, t) => sum + t.allocated, 0);
  const note =
    estimated > 1e-9
      ? [`  ~ of ${gpus(allocated)} allocated GPUs, the device or its split is estimated for ${gpus(estimated)}`]
      : [];
  const notAllocated =
    costs?.notAllocated == null ? [] : [costs.notAllocated.padStart(Math.max(...fitting.map((line) => line.length)))];
  return ["WHO HOLDS WHAT (GPUs)", ...fitting, ...notAllocated, ...note];
}

const nobody = ({ snapshot }: Analysis): string =>
  snapshot.coverage.objects
    ? "  nobody holds or waits for a GPU"
    : "  not known: no pods were read, and no telemetry row names one";

function columnsFor(withShares: boolean, costs: CostTexts | null, withStalled: boolean): readonly Column[] {
  if (costs === null) return (withShares ? columnsOfShares : columnsOfUse)(withStalled);
  return [...(withShares ? columnsOfShares : columnsOfUseAndCost)(withStalled), cost];
}

const hasStalled = (teams: readonly Pick<TeamTotals, "states">[]): boolean =>
  teams.some(({ states }) => (states.stalled ?? 0) > 1e-9);

const sumOf = (states: Readonly<Partial<Record<GpuState, number>>>, wanted: readonly GpuState[]) =>
  gpus(wanted.reduce((sum, state) => sum + (states[state] ?? 0), 0));

const allocatedText = ({ allocated, estimated }: { readonly allocated: number; readonly estimated: number }) =>
  `${gpus(allocated)}${estimated > 1e-9 ? "~" : ""}`;

function rowsOfUse(
  { teams, snapshot }: Analysis,
  costs: CostTexts | null,
  longestName: number,
): readonly (readonly string[])[] {
  const oldest = new Map<string, number>();
  for (const pod of snapshot.pods) {
    if (pod.pendingSince !== null)
      oldest.set(pod.team, Math.min(oldest.get(pod.team) ?? Number.POSITIVE_INFINITY, pod.pendingSince));
  }
  const waits = (team: string, pending: number): string => {
    const since = oldest.get(team);
    if (since === undefined) return "-";
    return `${pending > 0 ? gpus(pending) : "unknown"} for ${duration(snapshot.at - since)}`;
  };
  const withStalled = hasStalled(teams);
  return teams.map((t) => [
    plainText(t.team, longestName),
    allocatedText(t),
    gpus(t.active),
    sumOf(t.states, ["underutilized"]),
    sumOf(t.states, ["idle"]),
    ...(withStalled ? [sumOf(t.states, ["stalled"])] : []),
    ...(costs === null
      ? [sumOf(t.states, notUsable), sumOf(t.states, ["unobserved"])]
      : [sumOf(t.states, [...notUsable, "unobserved"])]),
    percent(t.utilization),
    waits(t.team, t.pending),
    ...(costs === null ? [] : [costs.ofTeam(t.team, t.allocated)]),
  ]);
}

function rowsOfShares(
  analysis: Analysis,
  costs: CostTexts | null,
  longestName: number,
): readonly (readonly string[])[] {
  const teams = everyTeam(analysis);
  const entitlements = teamEntitlements(analysis);
  const waits = waitsOf(analysis);
  const withStalled = hasStalled(teams);
  const rows = teams.map((t) => {
    const own = entitlements.get(t.team);
    return [
      plainText(t.team, longestName),
      own === undefined ? "–" : gpus(own.entitled),
      allocatedText(t),
      gpus(t.active),
      sumOf(t.states, ["idle"]),
      ...(withStalled ? [sumOf(t.states, ["stalled"])] : []),
      percent(t.utilization),
      own === undefined ? "–" : signed(own.deviation),
      waitText(waits.get(t.team)),
      ...(costs === null ? [] : [costs.ofTeam(t.team, t.allocated)]),
    ];
  });
  if (teams.length < 2) return rows;
  const total = (of: (team: (typeof teams)[number]) => number) => gpus(teams.reduce((sum, team) => sum + of(team), 0));
  const entitled = teams.every((t) => entitlements.has(t.team) || t.allocated === 0)
    ? total((t) => entitlements.get(t.team)?.entitled ?? 0)
    : "–";
  const waiting = [...waits.values()].reduce((sum, wait) => sum + wait.gpus, 0);
  const all = [
    "all",
    entitled,
    total((t) => t.allocated),
    total((t) => t.active),
    total((t) => t.states.idle ?? 0),
    ...(withStalled ? [total((t) => t.states.stalled ?? 0)] : []),
    "",
    "",
    waiting > 0 ? gpus(waiting) : "-",
    ...(costs === null ? [] : [costs.allocated]),
  ];
  return [...rows, all];
}

/** An amount with its sign; what rounds to nothing has none. */
export function signed(amount: number): string {
  if (Math.abs(amount) < 0.005) return "0.0";
  return amount > 0 ? `+${gpus(amount)}` : gpus(amount);
}

interface Wait {
  gpus: number;
  isUnknown: boolean;
  since: number | null;
  ageSeconds: number | null;
  /** Why none of it can run as things are; `null`: it is demand. */
  readonly never: NeverReason | null;
}

/** What each team's gangs wait for: those that could run, else those that cannot. */
function waitsOf({ snapshot }: Analysis): ReadonlyMap<string, Wait> {
  const waits = new Map<string, Wait>();
  for (const { team, gpus: amount, since, never } of snapshot.queueing.gangs) {
    const known = waits.get(team);
    if (known !== undefined && never !== null && known.never === null) continue;
    const isFirst = known === undefined || (known.never !== null && never === null);
    const wait = isFirst ? { gpus: 0, isUnknown: false, since: null, ageSeconds: null, never } : known;
    waits.set(team, wait);
    wait.gpus += amount ?? 0;
    wait.isUnknown ||= amount === null;
    if (since !== null) wait.since = Math.min(since, wait.since ?? since);
    if (wait.since !== null) wait.ageSeconds = snapshot.at - wait.since;
  }
  return waits;
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

function waitText(wait: Wait | undefined): string {
  if (wait === undefined) return "-";
  const amount = wait.gpus > 0 ? `${gpus(wait.gpus)}${wait.isUnknown ? "+?" : ""}` : "unknown";
  if (wait.never !== null) return `${amount} (${neverWords[wait.never]})`;
  return wait.ageSeconds === null ? amount : `${amount} for ${duration(wait.ageSeconds)}`;
}
