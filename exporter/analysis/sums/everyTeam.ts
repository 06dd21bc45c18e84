import type { Analysis } from "../analysis.ts";
import type { TeamTotals } from "../totals.ts";

/**
 * The teams of a moment, ordered by name, including those that only wait in queues: a suspended job of Kueue has no pods, so
 * that only its queue shows its team.
 */
export function everyTeam({ teams, fairness, snapshot }: Analysis): readonly TeamTotals[] {
  const known = new Set(teams.map(({ team }) => team));
  const others = new Set<string>();
  for (const { team } of fairness.teams) if (!known.has(team)) others.add(team);
  for (const { team } of snapshot.queueing.gangs) if (!known.has(team)) others.add(team);
  if (others.size === 0) return teams;
  return [...teams, ...[...others].map(withoutPods)].sort((a, b) => (a.team < b.team ? -1 : a.team > b.team ? 1 : 0));
}

function withoutPods(team: string): TeamTotals {
  return { team, allocated: 0, active: 0, utilization: null, states: {}, estimated: 0, idleOptedOut: 0, pending: 0 };
}
