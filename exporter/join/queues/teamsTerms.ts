import type { QueueSettings } from "../../config/queuesSchema.ts";

/** What the configuration promises a team in one domain, GPUs. */
export interface TeamTerms {
  readonly guaranteed: number;
  readonly limit: number;
  readonly weight: number;
}

/**
 * Terms by team over a set of pools. Several entries of one team that count there add up; the largest weight counts. An entry
 * for pools outside of the set counts elsewhere: it neither promises nor limits anything here.
 */
export function teamTerms(entries: QueueSettings["teams"], here: ReadonlySet<string>): ReadonlyMap<string, TeamTerms> {
  const terms = new Map<string, TeamTerms>();
  for (const { team, guarantee, limit, weight, pools } of entries) {
    if (pools !== undefined && !pools.some((pool) => here.has(pool))) continue;
    const known = terms.get(team);
    terms.set(team, {
      guaranteed: (known?.guaranteed ?? 0) + guarantee,
      limit: (known?.limit ?? 0) + (limit ?? Infinity),
      weight: Math.max(known?.weight ?? 0, weight),
    });
  }
  return terms;
}
