import type { Review } from "../document/review.ts";
import type { Demand } from "../document/use.ts";

/** If demand is above capacity by less than this many GPUs, that is no reason to buy one. */
const leastMissingGpus = 1;

/** Quota domains whose p95 demand is at least a GPU above their mean capacity; none where either is not known. */
export function shortDomains({ demand }: Pick<Review, "demand">): readonly Demand[] {
  return (demand ?? []).filter(
    ({ p95DemandGpus, meanCapacityGpus }) =>
      p95DemandGpus !== null && meanCapacityGpus !== null && p95DemandGpus - meanCapacityGpus >= leastMissingGpus,
  );
}

/** Whether work waits for GPUs of a pool of a cluster; a domain whose pools are not known may be about any of them. */
export function isShort(domains: readonly Demand[], cluster: string, pool: string): boolean {
  return domains.some(
    (one) => one.cluster === cluster && (one.pools.length === 0 || one.pools.includes(pool) || one.domain === pool),
  );
}

/**
 * GPU-hours for which work of a domain waited; `null` where no step is known. They are added up from means of steps, so a step
 * that is covered in part counts as a whole one.
 */
export function waitingGpuHours({ steps, stepSeconds }: Demand): number | null {
  const known = steps.map(({ pending }) => pending).filter((pending) => pending !== null);
  return known.length === 0 ? null : known.reduce((sum, pending) => sum + (pending * stepSeconds) / 3600, 0);
}
