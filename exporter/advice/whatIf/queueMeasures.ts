import type { Analysis } from "../../analysis/analysis.ts";
import { deviationsIn } from "../../analysis/fairness/deviations.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { EffectMeasures } from "../../model/recommendation.ts";
import type { ClusterCopy } from "./clusterCopy.ts";

/** held - entitled of leaf queues, physical GPUs, by index. */
export type Deviations = ReadonlyMap<number, number>;

/** The domains (indices) that have some of these pools. */
export function domainsOf({ domains }: Pick<ClusterCopy, "domains">, pools: ReadonlySet<string>): ReadonlySet<number> {
  return new Set(domains.flatMap((domain, index) => (domain.pools.some((pool) => pools.has(pool)) ? [index] : [])));
}

/** The leaf queues whose deviation is not what it was, with what it is now. */
export function changedDeviations(copy: ClusterCopy, domains: ReadonlySet<number>): Deviations {
  const changed = new Map<number, number>();
  if (copy.touchedDomains.size === 0) return changed;
  const { fairness: before, history } = copy.analysis;
  const { queueing } = copy.live;
  // Elsewhere nothing has changed: nobody need work out what everyone is entitled to there.
  for (const [i, now] of deviationsIn(queueing, history, domains)) {
    const old = before.queues[i]?.deviation ?? 0;
    if (Math.abs(now - old) > gpuTolerance) changed.set(i, now);
  }
  return changed;
}

/** The deviations of some queues: those that are given, the others as they are at the moment. */
export function deviationsOf(
  { snapshot, fairness }: Analysis,
  queues: readonly number[],
  now: Deviations,
): EffectMeasures["deviations"] {
  const { queueing } = snapshot;
  return queues.flatMap((index) => {
    const queue = queueing.queues[index];
    const gpus = now.get(index) ?? fairness.queues[index]?.deviation ?? null;
    if (queue === undefined || gpus === null) return [];
    return [{ queue: queue.name, domain: queueing.domains[queue.domain]?.name ?? "", gpus }];
  });
}

/** Pending physical GPUs of all leaves in some domains. */
export function pendingIn({ queues }: Pick<ClusterCopy, "queues">, domains: ReadonlySet<number>): number {
  let pending = 0;
  for (const queue of queues) if (queue.isLeaf && domains.has(queue.domain)) pending += queue.pending;
  return pending;
}
