import type { Queueing } from "../../join/queues/queueing.ts";
import type { UsageHistory } from "./fairness.ts";
import { entitleForest, forestsOf } from "./forest.ts";
import { gpuTolerance } from "./waterFill.ts";

/**
 * `QueueFairness.deviation` of the leaf queues of some domains (indices), by index: what `judgeFairness` says of them, without
 * all else that it says. Queues of domains of which nobody knows what is in them are left out. Pure.
 */
export function deviationsIn(
  queueing: Queueing,
  history: UsageHistory | null,
  domains: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  const forests = forestsOf(queueing, history, domains);
  for (const index of domains) {
    const [domain, forest] = [queueing.domains[index], forests[index]];
    if (domain === undefined || forest === undefined || domain.unknownBecause !== null) continue;
    const grants = entitleForest(forest, domain.capacity, history);
    for (const { index: queue } of forest.unqueued) found.set(queue, 0);
    for (const [place, { index: queue, queue: view }] of forest.placed.entries()) {
      if (!view.isLeaf) continue;
      const deviation = view.held - (grants[place] ?? 0);
      found.set(queue, Math.abs(deviation) > gpuTolerance ? deviation : 0);
    }
  }
  return found;
}
