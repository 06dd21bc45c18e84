import type { Analysis } from "../analysis/analysis.ts";
import type { GpuState } from "../analysis/booking.ts";
import type { TeamTotals } from "../analysis/totals.ts";
import { labelValue } from "../kernel/labelValue.ts";

/** The label value of all teams beyond the budget. */
export const otherTeams = "other";

/** The held GPUs of one team in one pool, by state. */
export interface TeamPool {
  readonly pool: string;
  readonly states: Partial<Record<GpuState, number>>;
}

/** What is published of one team, or of all teams that share the name `other`. */
export interface TeamSeries {
  readonly team: string;
  readonly held: number;
  readonly pending: number;
  readonly idleOptedOut: number;
  readonly utilization: number | null;
  readonly pools: readonly TeamPool[];
}

interface Fold {
  readonly team: string;
  readonly members: TeamTotals[];
  readonly pools: Map<string, TeamPool>;
}

/**
 * The teams of a page: the `limit` largest by held GPUs (then by pending, then by name) keep their names, all others are
 * added up as `other`, so that sums over teams stay what they were.
 */
export function foldTeams(analysis: Analysis, limit: number): { teams: readonly TeamSeries[]; folded: number } {
  const ranked = [...analysis.teams].sort(
    (a, b) => b.held - a.held || b.pending - a.pending || (a.team < b.team ? -1 : 1),
  );
  const folds = new Map<string, Fold>();
  const foldOf = new Map<string, Fold>();
  for (const [rank, totals] of ranked.entries()) {
    const team = rank < limit ? labelValue(totals.team) : otherTeams;
    const fold: Fold = folds.get(team) ?? { team, members: [], pools: new Map() };
    fold.members.push(totals);
    folds.set(team, fold);
    foldOf.set(totals.team, fold);
  }
  addPools(analysis, foldOf);
  return { teams: [...folds.values()].map(toSeries), folded: Math.max(0, ranked.length - limit) };
}

function addPools(analysis: Analysis, foldOf: ReadonlyMap<string, Fold>): void {
  for (const booking of analysis.bookings) {
    if (booking.pod === null) continue;
    const pod = analysis.snapshot.pods[booking.pod];
    const fold = pod === undefined ? undefined : foldOf.get(pod.team);
    if (fold === undefined) continue;
    const pool = fold.pools.get(booking.pool) ?? { pool: booking.pool, states: {} };
    pool.states[booking.state] = (pool.states[booking.state] ?? 0) + booking.gpus;
    fold.pools.set(booking.pool, pool);
  }
}

function toSeries({ team, members, pools }: Fold): TeamSeries {
  const sum = (of: (totals: TeamTotals) => number) => members.reduce((total, member) => total + of(member), 0);
  return {
    team,
    held: sum((member) => member.held),
    pending: sum((member) => member.pending),
    idleOptedOut: sum((member) => member.idleOptedOut),
    utilization: commonUtilization(members),
    pools: [...pools.values()],
  };
}

/** Of several teams: their active GPUs over their GPUs that could have been active. */
function commonUtilization(members: readonly TeamTotals[]): number | null {
  if (members.length === 1) return members[0]?.utilization ?? null;
  let active = 0;
  let usable = 0;
  for (const { states, utilization } of members) {
    if (utilization === null) continue;
    const own = (states.active ?? 0) + (states.underused ?? 0) + (states.held_idle ?? 0);
    active += utilization * own;
    usable += own;
  }
  return usable > 0 ? active / usable : null;
}
