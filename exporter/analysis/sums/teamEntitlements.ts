import type { Analysis } from "../analysis.ts";

/** What a team is entitled to over all quota domains. */
export interface TeamEntitlement {
  readonly entitled: number;
  /** held - entitled. */
  readonly deviation: number;
}

/**
 * Entitlement by team, summed over domains. A team with work in a domain with unknown entitlements is left out, because its sum
 * would be incomplete.
 */
export function teamEntitlements({ fairness, snapshot }: Analysis): ReadonlyMap<string, TeamEntitlement> {
  const sums = new Map<string, { entitled: number; deviation: number }>();
  for (const { team, entitled, deviation } of fairness.teams) {
    const sum = sums.get(team) ?? { entitled: 0, deviation: 0 };
    sum.entitled += entitled;
    sum.deviation += deviation;
    sums.set(team, sum);
  }
  for (const { domain, teams } of snapshot.queueing.queues) {
    if ((fairness.domains[domain] ?? null) === null) for (const { team } of teams) sums.delete(team);
  }
  return sums;
}
