import type { Problem } from "../../model/problem.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import { type BareDomain, scopeKey } from "./domains.ts";
import type { AllocatedByPriority, QueueKind, QueueView, QuotaDomain } from "./queueing.ts";
import type { DeclaredQueue, DomainFacts, QueueSystem } from "./queueSystem.ts";

/** What one team has in a leaf, while it is being counted. */
export interface TeamCount {
  readonly team: string;
  allocated: number;
  pending: number;
}

/** A queue while its work is being counted. */
export interface QueueDraft
  extends Omit<
    QueueView,
    | "allocated"
    | "allocatedOnUnschedulable"
    | "allocatedByClass"
    | "allocatedByPriority"
    | "pending"
    | "teams"
    | "gangs"
  > {
  readonly children: number[];
  guaranteed: number;
  limit: number;
  allocated: number;
  allocatedOnUnschedulable: number;
  /** By the index of the class; of leaves that hold anything. Maps are made when they are needed: most queues need none. */
  classes: Map<number, { allocated: number; allocatedOnUnschedulable: number }> | null;
  /** By priority; of leaves that hold anything. */
  priorities: Map<number, number> | null;
  pending: number;
  /** By team; of leaves in which anything is allocated or waits. */
  teams: Map<string, TeamCount> | null;
  readonly gangs: number[];
}

/** The queues of all systems in all domains, before any work is in them. */
export interface QueueForest {
  readonly domains: readonly QuotaDomain[];
  /** Parallel to `domains`. */
  readonly bare: readonly BareDomain[];
  readonly queues: QueueDraft[];
  /** Leaf by domain, then scheduler, then name. */
  readonly leaves: readonly ReadonlyMap<QueueScheduler, ReadonlyMap<string, number>>[];
  readonly problems: readonly Problem[];
}

/**
 * Puts the queues of each system in use under a root of its own, in each domain where it has any. A root is sure of what its
 * queues are sure of and may hold what they may hold; a guarantee without a bound is all that the domain has.
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

/** Nodes and classes are named only where they say something. */
function domainView(domain: BareDomain, all: readonly BareDomain[], unknownBecause: string | null): QuotaDomain {
  const { name, pools, nodes, classes, capacity, allocatedOnUnschedulable, outOfService = 0 } = domain;
  const isDivided = pools.some((pool) => all.some((other) => other !== domain && other.pools.includes(pool)));
  return {
    ...{ name, pools, capacity, allocatedOnUnschedulable, outOfService, unknownBecause },
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
  const root = queues.push(emptyQueue(scheduler, "Scheduler", scheduler, domain, null)) - 1;
  const leaves = new Map<string, number>();
  const top: DeclaredQueue[] = [];
  for (const one of declared) {
    const parent = one.parent === null ? root : root + 1 + one.parent;
    const draft: Written<QueueDraft> = emptyQueue(scheduler, one.kind, one.name, domain, parent);
    // Written out, here and below: there may be tens of thousands.
    draft.isLeaf = one.isLeaf;
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
    if (one.parent === null) top.push(one);
  }
  const sumOf = (of: (one: DeclaredQueue) => number): number => top.reduce((sum, one) => sum + of(one), 0);
  const reserved = top.flatMap((one) => (one.reserved === null ? [] : [one.reserved]));
  const above = queues[root];
  if (above !== undefined)
    queues[root] = {
      ...above,
      guaranteed: sumOf((one) => bounded(one.guaranteed)),
      declaredGuarantee: sumOf(({ guaranteed }) =>
        guaranteed === Number.POSITIVE_INFINITY ? 0 : Math.max(0, guaranteed ?? 0),
      ),
      limit: sumOf(({ limit }) => limit ?? Number.POSITIVE_INFINITY),
      reserved: reserved.length === 0 ? null : reserved.reduce((sum, gpus) => sum + gpus, 0),
    };
  return leaves;
}

/** A leaf that is sure of nothing, without a limit. */
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
    classes: null,
    priorities: null,
    reserved: null,
    pending: 0,
    teams: null,
    gangs: [],
  };
}

/** Adds an amount of the leaves to everything above them. */
export function sumUpwards(
  queues: readonly QueueDraft[],
  amount: "allocated" | "allocatedOnUnschedulable" | "pending",
): void {
  for (let i = queues.length - 1; i >= 0; i--) {
    const queue = queues[i];
    const above = queues[queue?.parent ?? -1];
    if (queue !== undefined && above !== undefined) above[amount] += queue[amount];
  }
}

type Written<Of> = { -readonly [Key in keyof Of]: Of[Key] };

/** A finished queue. A leaf is a team's when all of its work is. */
export function queueView(draft: QueueDraft, classCount = 1): QueueView {
  const { classes } = draft;
  const teams = draft.teams === null ? [] : [...draft.teams.values()].sort((a, b) => (a.team < b.team ? -1 : 1));
  const [only] = teams;
  const named = draft.kind === "Team" && draft.isLeaf ? draft.name : null;
  const view: Written<QueueView> = {
    scheduler: draft.scheduler,
    kind: draft.kind,
    name: draft.name,
    domain: draft.domain,
    parent: draft.parent,
    children: draft.children,
    isLeaf: draft.isLeaf,
    team: teams.length === 1 && only !== undefined ? only.team : teams.length === 0 ? named : null,
    guaranteed: draft.guaranteed,
    limit: draft.limit,
    lendingLimit: draft.lendingLimit,
    weight: draft.weight,
    zeroWeight: draft.zeroWeight,
    priority: draft.priority,
    isStrictOrder: draft.isStrictOrder,
    allocated: draft.allocated,
    allocatedOnUnschedulable: draft.allocatedOnUnschedulable,
    reserved: draft.reserved,
    pending: draft.pending,
    teams,
    gangs: draft.gangs,
  };
  if (draft.declaredGuarantee !== undefined) view.declaredGuarantee = draft.declaredGuarantee;
  if (draft.guaranteeIsFloor !== undefined) view.guaranteeIsFloor = draft.guaranteeIsFloor;
  if (draft.reclaim !== undefined) view.reclaim = draft.reclaim;
  if (draft.isLeaf) view.allocatedByPriority = sortedPriorities(draft.priorities);
  if (classCount > 1 && classes !== null)
    view.allocatedByClass = Array.from({ length: classCount }, (_, i) => classes.get(i) ?? nothingAllocated);
  return view;
}

const sortedPriorities = (priorities: QueueDraft["priorities"]): readonly AllocatedByPriority[] =>
  priorities === null
    ? []
    : [...priorities].map(([priority, gpus]) => ({ priority, gpus })).sort((a, b) => a.priority - b.priority);

const nothingAllocated = { allocated: 0, allocatedOnUnschedulable: 0 } as const;

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
