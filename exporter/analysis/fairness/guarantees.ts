import type { Queueing } from "../../join/queues/queueing.ts";

/**
 * The guarantee of each queue, parallel to `Queueing.queues`. Each amount is limited to the capacity. A node that is the sum of
 * its children (a scheduler's root, a cohort) stays that sum, because otherwise lending limits would not add up. For other
 * parents their own guarantee counts, since their children are sure of no more than that.
 */
export function guaranteesOf({ queues }: Pick<Queueing, "queues">): Float64Array {
  const sure = new Float64Array(queues.length);
  const below = new Float64Array(queues.length);
  for (let i = queues.length - 1; i >= 0; i--) {
    const queue = queues[i];
    if (queue === undefined) continue;
    const { kind, guaranteed, parent } = queue;
    const isSum = kind === "Scheduler" || kind === "Cohort";
    sure[i] = isSum ? Math.max(guaranteed, below[i] ?? 0) : guaranteed;
    if (parent !== null) below[parent] = (below[parent] ?? 0) + (sure[i] ?? 0);
  }
  return sure;
}

/** The sum of the guarantees of the queues of each domain, parallel to `Queueing.domains`; `null` if it is not known. */
export function domainGuarantees({
  queues,
  domains,
}: Pick<Queueing, "queues" | "domains">): readonly (number | null)[] {
  const sure = guaranteesOf({ queues });
  const sums = new Float64Array(domains.length);
  for (const [i, { domain, parent, kind }] of queues.entries()) {
    // What belongs to no queue is not guaranteed.
    if (parent === null && kind !== "Unqueued") sums[domain] = (sums[domain] ?? 0) + (sure[i] ?? 0);
  }
  return domains.map(({ unknownBecause }, i) => (unknownBecause === null ? (sums[i] ?? 0) : null));
}
