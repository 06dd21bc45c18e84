import type { Queueing, QueueView } from "../../join/queues/queueing.ts";
import type { EntitledNode } from "./claims.ts";
import { entitle, type LevelRecorder } from "./entitle.ts";
import type { UsageHistory } from "./fairness.ts";
import { guaranteesOf } from "./guarantees.ts";
import { queueKey } from "./shortSince.ts";

/** A queue with its index into `Queueing.queues`. */
export interface Placed {
  readonly index: number;
  readonly queue: QueueView;
}

/** The queues of one domain that share its capacity. */
export interface DomainForest {
  /** Parents before children. */
  readonly placed: readonly Placed[];
  /** Parallel to `placed`. */
  readonly nodes: readonly EntitledNode[];
  /** What no queue answers for: entitled to what it holds, and to no more. */
  readonly unqueued: readonly Placed[];
  /** Of the capacity: what `unqueued` holds. */
  readonly setAside: number;
}

/** The forest of each domain of a moment, parallel to `Queueing.domains`; only of some domains (indices) where these are given. */
export function forestsOf(
  queueing: Queueing,
  history: UsageHistory | null,
  only: ReadonlySet<number> | null = null,
): readonly DomainForest[] {
  const forests = queueing.domains.map(() => ({
    placed: [] as Placed[],
    nodes: [] as EntitledNode[],
    unqueued: [] as Placed[],
    setAside: 0,
  }));
  const sure = guaranteesOf(queueing);
  const places = new Int32Array(queueing.queues.length).fill(-1);
  queueing.queues.forEach((queue, index) => {
    const forest = forests[queue.domain];
    if (forest === undefined || only?.has(queue.domain) === false) return;
    if (queue.kind === "Unqueued") {
      forest.unqueued.push({ index, queue });
      forest.setAside += queue.held;
      return;
    }
    const parent = queue.parent === null ? -1 : (places[queue.parent] ?? -1);
    places[index] = forest.placed.length;
    forest.placed.push({ index, queue });
    forest.nodes.push({
      id: index,
      parent: parent < 0 ? null : parent,
      guaranteed: sure[index] ?? 0,
      limit: queue.limit,
      lendingLimit: queue.lendingLimit,
      weight: queue.weight,
      zeroWeight: queue.zeroWeight,
      priority: queue.priority,
      isFloor: queue.guaranteeIsFloor ?? false,
      demand: queue.held + queue.pending,
      usage: history?.usage.get(queueKey(queue, queueing.domains[queue.domain]?.name ?? "")) ?? 0,
    });
  });
  return forests;
}

/** What each queue of a forest is entitled to, parallel to `placed`. */
export function entitleForest(
  forest: DomainForest,
  capacity: number,
  history: UsageHistory | null,
  recorder?: LevelRecorder,
): Float64Array {
  const kValue = history?.kValue ?? 0;
  const options = recorder === undefined ? { kValue } : { kValue, recorder };
  return entitle(forest.nodes, capacity - forest.setAside, options).grants;
}
