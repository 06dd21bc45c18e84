import type { Analysis } from "../analysis/analysis.ts";
import type { TeamSignals } from "../analysis/signals/measureSignals.ts";
import { mergeWork, type WorkRatios, workRatios } from "../analysis/signals/workSums.ts";
import { zeroStates } from "../analysis/sums/costSums.ts";
import { everyTeam } from "../analysis/sums/everyTeam.ts";
import type { MomentSums, TeamPool } from "../analysis/sums/momentSums.ts";
import type { TeamTotals } from "../analysis/totals.ts";
import { labelValue } from "../kernel/labelValue.ts";
import { gpuStates, observedStates } from "../model/gpuStates.ts";

/** The label value of all teams beyond the budget. */
export const otherTeams = "other";

/** What is published of one team, or of all teams that share the name `other`. */
export interface TeamSeries {
  readonly team: string;
  readonly allocated: number;
  readonly pending: number;
  readonly idleOptedOut: number;
  readonly utilization: number | null;
  readonly pools: readonly TeamPool[];
  /** What its GPUs in each pool report about their work. */
  readonly work: readonly { readonly pool: string; readonly ratios: WorkRatios }[];
}

interface Fold {
  readonly team: string;
  readonly members: TeamTotals[];
}

/**
 * The teams of a page: the `limit` largest by allocated GPUs (then by pending, then by name) keep their names, all others are
 * added up as `other`, so that sums over teams stay the same.
 */
export function foldTeams(
  analysis: Analysis,
  sums: MomentSums,
  limit: number,
): { readonly teams: readonly TeamSeries[]; readonly named: number; readonly folded: number } {
  const ranked = [...everyTeam(analysis)].sort(
    (a, b) => b.allocated - a.allocated || b.pending - a.pending || (a.team < b.team ? -1 : 1),
  );
  const folds = new Map<string, Fold>();
  const work = Map.groupBy(analysis.signals.teams, ({ team }) => team);
  for (const [rank, totals] of ranked.entries()) {
    const team = rank < limit ? labelValue(totals.team) : otherTeams;
    const fold: Fold = folds.get(team) ?? { team, members: [] };
    fold.members.push(totals);
    folds.set(team, fold);
  }
  return {
    teams: [...folds.values()].map((fold) => toSeries(fold, sums, work)),
    named: Math.min(limit, ranked.length),
    folded: Math.max(0, ranked.length - limit),
  };
}

/** The GPUs by pool: those of one team, or the sums over several teams. */
function poolsOf(members: readonly TeamTotals[], { teams }: MomentSums): readonly TeamPool[] {
  const [first, ...others] = members.flatMap(({ team }) => teams.get(team) ?? []);
  if (first === undefined || others.length === 0) return [...(first?.values() ?? [])];
  const sums = new Map<string, TeamPool & { readonly states: ReturnType<typeof zeroStates> }>();
  for (const pools of [first, ...others]) {
    for (const { pool, states } of pools.values()) {
      const sum = sums.get(pool) ?? { pool, states: zeroStates() };
      sums.set(pool, sum);
      for (const state of gpuStates) sum.states[state] += states[state];
    }
  }
  return [...sums.values()];
}

/** The work of teams in each pool, by the name of the team. */
type WorkByTeam = ReadonlyMap<string, readonly TeamSignals[]>;

function toSeries({ team, members }: Fold, sums: MomentSums, work: WorkByTeam): TeamSeries {
  const sum = (of: (totals: TeamTotals) => number) => members.reduce((total, member) => total + of(member), 0);
  return {
    team,
    allocated: sum((member) => member.allocated),
    pending: sum((member) => member.pending),
    idleOptedOut: sum((member) => member.idleOptedOut),
    utilization: commonUtilization(members),
    pools: poolsOf(members, sums),
    work: workOf(members, work),
  };
}

/** The utilization of several teams together: their active GPUs divided by their GPUs that could have been active. */
function commonUtilization(members: readonly TeamTotals[]): number | null {
  if (members.length === 1) return members[0]?.utilization ?? null;
  let active = 0;
  let usable = 0;
  for (const { states, utilization } of members) {
    if (utilization === null) continue;
    const own = observedStates.reduce((sum, state) => sum + (states[state] ?? 0), 0);
    active += utilization * own;
    usable += own;
  }
  return usable > 0 ? active / usable : null;
}

function workOf(members: readonly TeamTotals[], work: WorkByTeam): TeamSeries["work"] {
  const byPool = Map.groupBy(
    members.flatMap(({ team }) => work.get(team) ?? []),
    ({ pool }) => pool,
  );
  return [...byPool].map(([pool, own]) => ({ pool, ratios: workRatios(mergeWork(own.map((one) => one.work))) }));
}
