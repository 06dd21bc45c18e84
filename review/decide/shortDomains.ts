import type { Review } from "../document/review.ts";
import type { Demand } from "../document/use.ts";

/** Less than this above capacity is no reason to buy a GPU. */
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

/** GPU-hours for which work of a domain waited: means of steps, so a step that is covered in part counts as whole; `null` where no step is known. */
export function waitingGpuHours({ steps, stepSeconds }: Demand): number | null {
  const known = steps.map(({ pending }) => pending).filter((pending) => pending !== null);
  return known.length === 0 ? null : known.reduce((sum, pending) => sum + (pending * stepSeconds) / 3600, 0);
}
