import type { Analysis } from "../../analysis/analysis.ts";
import { everyTeam } from "../../analysis/sums/everyTeam.ts";
import { teamEntitlements } from "../../analysis/sums/teamEntitlements.ts";
import type { GpusByState, TeamTotals } from "../../analysis/totals.ts";
import type { NeverReason } from "../../join/queues/queueing.ts";
import { costRecord, type OwnCost, ownCosts } from "../document/costRecords.ts";
import { mainCurrency } from "../document/priceRecords.ts";

/** What a team's work waits for: the work that could run, or else the work that cannot. */
export interface TeamWait {
  /** Physical GPUs that it waits for, without work whose GPUs are not known. */
  readonly gpus: number;
  /** Whether it is not known for some of the work how many GPUs it needs. */
  readonly isUnknown: boolean;
  /** How long the oldest of it has waited, seconds; `null`: not known. */
  readonly ageSeconds: number | null;
  /** Why none of it can run as things are; `null`: it is demand. */
  readonly never: NeverReason | null;
}

/** What one team holds, does with it, is entitled to and waits for. All amounts are physical GPUs. */
export interface TeamRow {
  readonly team: string;
  /** GPUs that it is entitled to; `null`: not known, or nothing is known of queues. */
  readonly entitled: number | null;
  readonly allocated: number;
  /** The part of `allocated` whose device or split is estimated. */
  readonly estimated: number;
  readonly active: number;
  readonly states: GpusByState;
  /** Utilization, 0..1; `null`: nothing that it holds was observed. */
  readonly utilization: number | null;
  /** `allocated` minus `entitled`; `null` where `entitled` is. */
  readonly deviation: number | null;
  /** What it waits for; `null`: it waits for nothing. */
  readonly wait: TeamWait | null;
  /** What its GPUs cost; `null`: nothing in the cluster has a price. */
  readonly cost: OwnCost | null;
}

/** The sums of all teams. */
export interface AllTeams extends Pick<TeamRow, "entitled" | "allocated" | "estimated" | "active" | "states" | "cost"> {
  /** GPUs that work waits for, without work whose GPUs are not known. */
  readonly waiting: number;
}

/** What each team holds, uses and waits for, and, where there are queues, what it is entitled to. */
export interface TeamRows {
  /** Every team of the moment, also those that only wait. */
  readonly rows: readonly TeamRow[];
  readonly all: AllTeams;
  /** Whether anything is known of entitlements or of gangs. */
  readonly withShares: boolean;
  /** Currency of every cost; `null` where nothing has a price. */
  readonly currency: string | null;
  /** What GPUs that nobody holds cost per hour; `null` where that is nothing, or where objects were not read. */
  readonly notAllocatedPerHour: number | null;
}

/** The teams of a moment as every overview shows them. Pure. */
export function teamRows(analysis: Analysis): TeamRows {
  const { fairness, snapshot, prices } = analysis;
  const withShares = fairness.teams.length > 0 || snapshot.queueing.gangs.length > 0;
  const entitlements = teamEntitlements(analysis);
  const waits = withShares ? waitsOfGangs(analysis) : waitsOfPods(analysis);
  const currency = mainCurrency(prices.groups);
  const costOf = currency === null ? null : ownCosts(analysis, ({ team }) => team);
  const rows = everyTeam(analysis).map(({ team, allocated, active, estimated, states, utilization }): TeamRow => {
    const own = withShares ? entitlements.get(team) : undefined;
    return {
      team,
      entitled: own?.entitled ?? null,
      allocated,
      estimated,
      active,
      states,
      utilization,
      deviation: own?.deviation ?? null,
      wait: waits.get(team) ?? null,
      cost: costOf === null ? null : costOf(team, allocated),
    };
  });
  return {
    rows,
    all: sumOf(rows, currency === null ? null : ownCosts(analysis, () => "all")("all", 0)),
    withShares,
    currency,
    notAllocatedPerHour: currency === null ? null : notAllocated(analysis),
  };
}

/**
 * The sums of all teams. The sum of entitlements is unknown if that of a team which holds something is; a team that holds
 * nothing may be left out of it.
 */
function sumOf(rows: readonly TeamRow[], cost: OwnCost | null): AllTeams {
  const total = (of: (row: TeamRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const states: Record<string, number> = {};
  for (const row of rows)
    for (const [state, gpus] of Object.entries(row.states)) states[state] = (states[state] ?? 0) + gpus;
  const isKnown = rows.every(({ entitled, allocated }) => entitled !== null || allocated === 0);
  return {
    entitled: isKnown ? total(({ entitled }) => entitled ?? 0) : null,
    allocated: total(({ allocated }) => allocated),
    estimated: total(({ estimated }) => estimated),
    active: total(({ active }) => active),
    states,
    waiting: total(({ wait }) => wait?.gpus ?? 0),
    cost,
  };
}

function notAllocated(analysis: Analysis): number | null {
  const { unallocatedPerHour } = costRecord(analysis);
  const isKnown = analysis.snapshot.coverage.objects && unallocatedPerHour !== null && unallocatedPerHour > 0;
  return isKnown ? unallocatedPerHour : null;
}

/**
 * What each team's pods wait for, for clusters where nothing is known of gangs: how many GPUs, and for how long the oldest has
 * waited.
 */
function waitsOfPods({ teams, snapshot }: Analysis): ReadonlyMap<string, TeamWait> {
  const oldest = new Map<string, number>();
  for (const { team, pendingSince } of snapshot.pods) {
    if (pendingSince !== null) oldest.set(team, Math.min(oldest.get(team) ?? Number.POSITIVE_INFINITY, pendingSince));
  }
  const pending = new Map(teams.map((one: TeamTotals) => [one.team, one.pending] as const));
  const waits = new Map<string, TeamWait>();
  for (const [team, since] of oldest) {
    const gpus = pending.get(team) ?? 0;
    waits.set(team, { gpus, isUnknown: gpus === 0, ageSeconds: snapshot.at - since, never: null });
  }
  return waits;
}

/** What each team's gangs wait for: the gangs that could run, or else those that cannot. */
function waitsOfGangs({ snapshot }: Analysis): ReadonlyMap<string, TeamWait> {
  const waits = new Map<string, { -readonly [Name in keyof TeamWait]: TeamWait[Name] }>();
  for (const { team, gpus, since, never } of snapshot.queueing.gangs) {
    const known = waits.get(team);
    if (known !== undefined && never !== null && known.never === null) continue;
    const isFirst = known === undefined || (known.never !== null && never === null);
    const wait = isFirst ? { gpus: 0, isUnknown: false, ageSeconds: null, never } : known;
    waits.set(team, wait);
    wait.gpus += gpus ?? 0;
    wait.isUnknown ||= gpus === null;
    if (since !== null) wait.ageSeconds = Math.max(snapshot.at - since, wait.ageSeconds ?? 0);
  }
  return waits;
}
