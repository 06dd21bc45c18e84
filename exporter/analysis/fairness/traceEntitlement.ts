import type { Queueing } from "../../join/queues/queueing.ts";
import type { Fairness, UsageHistory } from "./fairness.ts";
import { entitleForest, forestsOf } from "./forest.ts";
import type { EntitlementTrace, LevelTrace } from "./trace.ts";

/** What `traceEntitlement` may be told besides. */
export interface TraceFacts {
  /** As given to `judgeFairness`. */
  readonly history?: UsageHistory | null;
  /** Physical GPUs that are free in each pool. */
  readonly freeByPool?: ReadonlyMap<string, number>;
}

/**
 * Divides the domain of a queue once more, and writes down each level on its path. `null`: there is no such queue, or nobody's
 * entitlement can be told in its domain.
 */
export function traceEntitlement(
  queueing: Queueing,
  fairness: Fairness,
  index: number,
  facts: TraceFacts = {},
): EntitlementTrace | null {
  const queue = queueing.queues[index];
  const judged = fairness.queues[index];
  const domain = queue === undefined ? undefined : queueing.domains[queue.domain];
  const history = facts.history ?? null;
  if (queue === undefined || judged === undefined || judged === null || domain === undefined) return null;
  const forest = forestsOf(queueing, history)[queue.domain];
  if (forest === undefined) return null;
  const levels: LevelTrace[] = [];
  if (queue.kind !== "Unqueued") {
    const path = ancestorsOf(queueing, index);
    entitleForest(forest, domain.capacity, history, {
      wants: (parent) => parent === null || path.has(parent.id),
      record: (level) => levels.push(level),
    });
  }
  const pairs = fairness.domains[queue.domain]?.pairs ?? [];
  const within = (other: number): boolean => other === index || ancestorsOf(queueing, other).has(index);
  return {
    queue: index,
    domain: queue.domain,
    capacity: domain.capacity,
    setAside: forest.setAside,
    levels,
    demand: judged.demand,
    entitled: judged.entitled,
    held: queue.held,
    missing: pairs.filter(({ starved, borrower }) => within(starved) && !within(borrower)),
    owed: pairs.filter(({ starved, borrower }) => within(borrower) && !within(starved)),
    idleGap: {
      gpus: judged.shortfallByIdleGap,
      pools: domain.pools.map((pool) => ({ pool, free: facts.freeByPool?.get(pool) ?? null })),
    },
  };
}

/** Indices of everything above a queue. */
function ancestorsOf(queueing: Queueing, index: number): ReadonlySet<number> {
  const path = new Set<number>();
  let parent = queueing.queues[index]?.parent ?? null;
  while (parent !== null && !path.has(parent)) {
    path.add(parent);
    parent = queueing.queues[parent]?.parent ?? null;
  }
  return path;
}
