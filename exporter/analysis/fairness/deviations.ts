import type { Queueing } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { entitle } from "./entitle.ts";
import type { UsageHistory } from "./fairness.ts";
import { unitsOf } from "./units.ts";

/**
 * `QueueFairness.deviation` of the leaf queues of some domains (indices) and of all that share queues with them, by index. The
 * values are those of `judgeFairness`, without its other results. Queues of domains with unknown content are left out. Pure.
 */
export function deviationsIn(
  queueing: Queueing,
  history: UsageHistory | null,
  domains: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const unit of unitsOf(queueing, history, domains)) {
    const entitled = Float64Array.from(unit.nodes, ({ queue }) => queue.allocatedOnUnschedulable);
    for (const { node, gpus } of entitle(unit, { kValue: history?.kValue ?? 0 }).placed)
      entitled[node] = (entitled[node] ?? 0) + gpus;
    for (const { index } of unit.unqueued) found.set(index, 0);
    for (let node = 0; node < unit.nodes.length; node++) {
      const { index, queue } = unit.nodes[node] ?? {};
      if (index === undefined || queue?.isLeaf !== true) continue;
      const deviation = queue.allocated - (entitled[node] ?? 0);
      found.set(index, Math.abs(deviation) > gpuTolerance ? deviation : 0);
    }
  }
  return found;
}
