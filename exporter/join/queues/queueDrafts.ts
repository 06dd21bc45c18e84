import type { Problem } from "../../model/problem.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import { scopeKey } from "./domainShapes.ts";
import type { BareDomain } from "./domains.ts";
import type { AllocatedInClass, QueueKind, QueueView, QuotaDomain, TeamShare } from "./queueing.ts";
import type { DeclaredQueue, DomainFacts, QueueSystem } from "./queueSystem.ts";

type Written<Of> = { -readonly [Key in keyof Of]: Of[Key] };

/** A queue while its work is being counted: the record of `Queueing.queues` itself, which does not change afterwards. */
export interface QueueDraft extends Written<QueueView> {
  readonly children: number[];
  allocatedByClass?: readonly Written<AllocatedInClass>[];
  readonly teams: Written<TeamShare>[];
  readonly gangs: number[];
}

/** The queues of all systems in all domains, before any work is in them. */
export interface QueueForest {
  readonly domains: readonly QuotaDomain[];
  /** The domains before they have queues, parallel to `domains`. */
  readonly bare: readonly BareDomain[];
  readonly queues: QueueDraft[];
  /** Index of each leaf queue, by domain, then by scheduler, then by name. */
  readonly leaves: readonly ReadonlyMap<QueueScheduler, ReadonlyMap<string, number>>[];
  readonly problems: readonly Problem[];
}

/**
 * Puts the queues of each system in use under a root of its own, in each domain where it has any. The guarantee and the limit
 * of a root are those of its queues together; a guarantee without a bound is everything that the domain has.
 */
export function plantQueues(bare: readonly BareDomain[], systems: readonly QueueSystem[]): QueueForest {
  const queues: QueueDraft[] = [];
  const problems: Problem[] = [];
  const leaves: Map<QueueScheduler, Map<string, number>>[] = [];
  const domains = bare.map((domain, index): QuotaDomain => {
    const byScheduler = new Map<QueueScheduler, Map<string, number>>();
    leaves.push(byScheduler);
    const unknown: string[] = [];
    let unknownBecause: string | null = null;
    for (const system of systems) {
      if (system.leafOf !== null && byScheduler.size > 0) continue;
      const declared = system.queuesIn(factsFor(system, domain));
      if (declared.length === 0) continue;
      unknownBecause ??= system.unknownBecause ?? null;
      byScheduler.set(system.scheduler, plantSystem(system.scheduler, declared, domain, index, queues));
      for (const { kind, name, guaranteed, limit } of declared)
        if (guaranteed === null || limit === null) unknown.push(`${kind} ${name}`);
    }
    const [first] = unknown;
    if (first === undefined) return domainView(domain, bare, unknownBecause);
    problems.push(unknownQuota(domain.name, first, unknown.length));
    return domainView(domain, bare, `the quota of ${first} is not the same part of a GPU on all nodes`);
  });
  return { domains, bare, queues, leaves, problems };
}

/** Nodes and classes are listed only if they distinguish something. */
function domainView(domain: BareDomain, all: readonly BareDomain[], unknownBecause: string | null): QuotaDomain {
  const { name, pools, nodes, classes, capacity, allocatedOnUnschedulable, outOfService = 0 } = domain;
  const isDivided = pools.some((pool) => all.some((other) => other !== domain && other.pools.includes(pool)));
  return {
    name,
    pools,
    capacity,
    allocatedOnUnschedulable,
    outOfService,
    unknownBecause,
    ...(isDivided ? { nodes } : {}),
    ...(classes.length > 1 ? { classes } : {}),
  };
}

function factsFor({ scheduler }: QueueSystem, { name, poolFacts, capacity, scopes }: BareDomain): DomainFacts {
  const prefix = scopeKey(scheduler, "");
  const own = [...scopes].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  return { name, pools: poolFacts, capacity, scopes: new Set(own) };
}

function plantSystem(
  scheduler: QueueScheduler,
  declared: readonly DeclaredQueue[],
  { capacity }: BareDomain,
  domain: number,
  queues: QueueDraft[],
): Map<string, number> {
  const bounded = (amount: number | null) =>
    amount === Number.POSITIVE_INFINITY ? capacity : Math.max(0, amount ?? 0);
  const top = emptyQueue(scheduler, "Scheduler", scheduler, domain, null);
  const root = queues.push(top) - 1;
  const leaves = new Map<string, number>();
  const highest: DeclaredQueue[] = [];
  for (const one of declared) {
    const parent = one.parent === null ? root : root + 1 + one.parent;
    const draft = emptyQueue(scheduler, one.kind, one.name, domain, parent);
    // Written out, here and below: there may be tens of thousands.
    draft.isLeaf = one.isLeaf;
    if (one.isLeaf) draft.allocatedByPriority = [];
    draft.guaranteed = bounded(one.guaranteed);
    draft.limit = one.limit ?? Number.POSITIVE_INFINITY;
    draft.lendingLimit = one.lendingLimit;
    draft.weight = one.weight;
    draft.zeroWeight = one.zeroWeight;
    draft.priority = one.priority;
    draft.isStrictOrder = one.isStrictOrder;
    draft.reserved = one.reserved;
    if (one.guaranteeIsFloor !== undefined) draft.guaranteeIsFloor = one.guaranteeIsFloor;
    if (one.reclaim !== undefined) draft.reclaim = one.reclaim;
    const place = queues.push(draft) - 1;
    queues[parent]?.children.push(place);
    if (one.isLeaf && !leaves.has(one.name)) leaves.set(one.name, place);
    if (one.parent === null) highest.push(one);
  }
  const sumOf = (of: (one: DeclaredQueue) => number): number => highest.reduce((sum, one) => sum + of(one), 0);
  const reserved = highest.flatMap((one) => (one.reserved === null ? [] : [one.reserved]));
  top.guaranteed = sumOf((one) => bounded(one.guaranteed));
  top.declaredGuarantee = sumOf(({ guaranteed }) =>
    guaranteed === Number.POSITIVE_INFINITY ? 0 : Math.max(0, guaranteed ?? 0),
  );
  top.limit = sumOf(({ limit }) => limit ?? Number.POSITIVE_INFINITY);
  top.reserved = reserved.length === 0 ? null : reserved.reduce((sum, gpus) => sum + gpus, 0);
  return leaves;
}

/** A queue without a guarantee and without a limit. */
export function emptyQueue(
  scheduler: QueueScheduler,
  kind: QueueKind,
  name: string,
  domain: number,
  parent: number | null,
): QueueDraft {
  return {
    scheduler,
    kind,
    name,
    domain,
    parent,
    children: [],
    isLeaf: false,
    team: null,
    guaranteed: 0,
    limit: Number.POSITIVE_INFINITY,
    lendingLimit: Number.POSITIVE_INFINITY,
    weight: 1,
    zeroWeight: "last",
    priority: 0,
    isStrictOrder: false,
    allocated: 0,
    allocatedOnUnschedulable: 0,
    reserved: null,
    pending: 0,
    teams: [],
    gangs: [],
  };
}

/** The leaf for work outside of queues, before anything is in it. */
export function emptyUnqueued(domain: number): QueueDraft {
  const queue = emptyQueue("none", "Unqueued", "unqueued", domain, null);
  return { ...queue, isLeaf: true, weight: 0, zeroWeight: "never", limit: 0, allocatedByPriority: [] };
}

/** Adds what the leaves hold to everything above them. */
export function sumUpAllocated(queues: readonly QueueDraft[]): void {
  for (let i = queues.length - 1; i >= 0; i--) {
    const queue = queues[i];
    const above = queues[queue?.parent ?? -1];
    if (queue === undefined || above === undefined) continue;
    above.allocated += queue.allocated;
    above.allocatedOnUnschedulable += queue.allocatedOnUnschedulable;
  }
}

/** Adds what waits in the leaves to everything above them. */
export function sumUpPending(queues: readonly QueueDraft[]): void {
  for (let i = queues.length - 1; i >= 0; i--) {
    const queue = queues[i];
    const above = queues[queue?.parent ?? -1];
    if (queue !== undefined && above !== undefined) above.pending += queue.pending;
  }
}

function unknownQuota(domain: string, first: string, count: number): Problem {
  const others = count === 1 ? "" : `, as those of ${count - 1} others`;
  return {
    source: "join",
    code: "queue-quota-unknown",
    severity: "warning",
    subject: first,
    message: `The quota of ${first}${others} cannot be said in GPUs: a unit of its resource is not the same part of a GPU on all nodes of ${domain}; nobody's entitlement is known there`,
    nextStep:
      "Give nodes that are shared in different ways flavors (or shards) of their own, or rename shared resources (renameByDefault: true in the device plugin).",
  };
}
