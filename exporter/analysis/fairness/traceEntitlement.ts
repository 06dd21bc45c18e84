import type { Queueing } from "../../join/queues/queueing.ts";
import { entitle } from "./entitle.ts";
import type { Fairness, UsageHistory } from "./fairness.ts";
import type { EntitlementTrace, LevelTrace } from "./trace.ts";
import { type Entity, type SharedUnit, unitsOf } from "./units.ts";
import { sumOf } from "./waterFill.ts";

/** Optional facts for `traceEntitlement`. */
export interface TraceFacts {
  /** The history that was given to `judgeFairness`. */
  readonly history?: UsageHistory | null;
  /** Physical GPUs that are free in each pool. */
  readonly freeByPool?: ReadonlyMap<string, number>;
}

/**
 * Divides the domain of a queue once more, and records each level on its path. Returns `null` if there is no such queue, or if
 * no entitlement is known in its domain.
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
  const unit = unitsOf(queueing, history, new Set([queue.domain]))[0];
  if (unit === undefined) return null;
  const node = unit.nodes.findIndex((place) => place.index === index);
  const levels: LevelTrace[] = [];
  const path = headsAbove(unit, node);
  if (node >= 0) {
    entitle(unit, {
      kValue: history?.kValue ?? 0,
      recorder: {
        wants: (parent) => parent === null || path.has(parent.index),
        record: (level) => levels.push(level),
      },
    });
  }
  const pairs = unit.domains.flatMap((one) => fairness.domains[one]?.pairs ?? []);
  const within = (other: number): boolean => other === index || ancestorsOf(queueing, other).has(index);
  const views = unit.domains.flatMap((one) => queueing.domains[one] ?? []);
  return {
    queue: index,
    head: headOf(unit, node) ?? index,
    domain: queue.domain,
    domains: unit.domains,
    capacity: sumOf(views.map(({ capacity }) => capacity)),
    setAside: sumOf(
      unit.unqueued.map(({ queue: { allocated, allocatedOnUnschedulable } }) => allocated - allocatedOnUnschedulable),
    ),
    allocatedElsewhere: sumOf(views.map(({ allocatedOnUnschedulable }) => allocatedOnUnschedulable)),
    lost: queue.kind === "Unqueued" ? 0 : queue.allocatedOnUnschedulable,
    levels,
    judged,
    demand: judged.demand,
    entitled: judged.entitled,
    allocated: queue.allocated,
    missing: pairs.filter(({ starved, borrower }) => within(starved) && !within(borrower)),
    owed: pairs.filter(({ starved, borrower }) => within(borrower) && !within(starved)),
    idleGap: {
      gpus: judged.shortfallByIdleGap,
      pools: domain.pools.map((pool) => ({ pool, free: facts.freeByPool?.get(pool) ?? null })),
    },
  };
}

/** The record that traces use for the queue of a node; `undefined` if there is none. */
function headOf({ entities, entityOf, nodes }: SharedUnit, node: number): number | undefined {
  const [head] = entities[entityOf[node] ?? -1]?.nodes ?? [];
  return head === undefined ? undefined : nodes[head]?.index;
}

/** The records that traces use for everything above the queue of a node. */
function headsAbove(unit: SharedUnit, node: number): ReadonlySet<number> {
  const path = new Set<number>();
  for (let next = unit.entities[unit.entityOf[node] ?? -1]?.parent ?? null; next !== null; ) {
    const entity: Entity | undefined = unit.entities[next];
    const head = headOf(unit, entity?.nodes[0] ?? -1);
    if (head !== undefined) path.add(head);
    next = entity?.parent ?? null;
  }
  return path;
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
