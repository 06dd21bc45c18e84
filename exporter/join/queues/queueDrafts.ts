import type { Problem } from "../../model/problem.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { BareDomain } from "./domains.ts";
import type { QueueKind, QueueView, QuotaDomain } from "./queueing.ts";
import type { DeclaredQueue, QueueSystem } from "./queueSystem.ts";

/** What one team has in a leaf, while it is being counted. */
export interface TeamCount {
  readonly team: string;
  held: number;
  pending: number;
}

/** A queue while its work is being counted. */
export interface QueueDraft extends Omit<QueueView, "held" | "heldOnUnschedulable" | "pending" | "teams" | "gangs"> {
  readonly children: number[];
  guaranteed: number;
  limit: number;
  held: number;
  heldOnUnschedulable: number;
  pending: number;
  /** By team; filled in leaves only. */
  readonly teams: Map<string, TeamCount>;
  readonly gangs: number[];
}

/** The queues of all systems in all domains, before any work is in them. */
export interface QueueForest {
  readonly domains: readonly QuotaDomain[];
  readonly queues: QueueDraft[];
  /** Leaf by domain, then scheduler, then name. */
  readonly leaves: readonly ReadonlyMap<QueueScheduler, ReadonlyMap<string, number>>[];
  readonly problems: readonly Problem[];
}

/**
 * Puts the queues of each system in use under a root of its own, in each domain where it has any. A root is sure of what its
 * queues are sure of and may hold what they may hold; amounts above the domain's capacity mean all of it.
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
      const declared = system.queuesIn(domain);
      if (declared.length === 0) continue;
      unknownBecause ??= system.unknownBecause ?? null;
      byScheduler.set(system.scheduler, plantSystem(system.scheduler, declared, domain, index, queues));
      for (const { kind, name, guaranteed, limit } of declared)
        if (guaranteed === null || limit === null) unknown.push(`${kind} ${name}`);
    }
    const [first] = unknown;
    if (first === undefined) return { ...domain, unknownBecause };
    problems.push(unknownQuota(domain.name, first, unknown.length));
    return { ...domain, unknownBecause: `the quota of ${first} is not the same part of a card on all nodes` };
  });
  return { domains, queues, leaves, problems };
}

function plantSystem(
  scheduler: QueueScheduler,
  declared: readonly DeclaredQueue[],
  { capacity }: BareDomain,
  domain: number,
  queues: QueueDraft[],
): Map<string, number> {
  const clamped = (amount: number | null) => Math.min(capacity, Math.max(0, amount ?? 0));
  const root = queues.push(emptyQueue(scheduler, "Scheduler", scheduler, domain, null)) - 1;
  const leaves = new Map<string, number>();
  let [guaranteed, declaredGuarantee, limit] = [0, 0, 0];
  let reserved: number | null = null;
  for (const one of declared) {
    const parent = one.parent === null ? root : root + 1 + one.parent;
    const place = queues.push({
      ...emptyQueue(scheduler, one.kind, one.name, domain, parent),
      isLeaf: one.isLeaf,
      guaranteed: clamped(one.guaranteed),
      limit: one.limit ?? Number.POSITIVE_INFINITY,
      lendingLimit: one.lendingLimit,
      weight: one.weight,
      zeroWeight: one.zeroWeight,
      priority: one.priority,
      isStrictOrder: one.isStrictOrder,
      reserved: one.reserved,
      ...(one.guaranteeIsFloor === undefined ? {} : { guaranteeIsFloor: one.guaranteeIsFloor }),
    });
    queues[parent]?.children.push(place - 1);
    if (one.isLeaf && !leaves.has(one.name)) leaves.set(one.name, place - 1);
    if (one.parent !== null) continue;
    guaranteed += clamped(one.guaranteed);
    if (one.guaranteed !== Number.POSITIVE_INFINITY) declaredGuarantee += Math.max(0, one.guaranteed ?? 0);
    limit += one.limit ?? Number.POSITIVE_INFINITY;
    if (one.reserved !== null) reserved = (reserved ?? 0) + one.reserved;
  }
  const top = queues[root];
  if (top !== undefined) queues[root] = { ...top, guaranteed: clamped(guaranteed), declaredGuarantee, limit, reserved };
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
    held: 0,
    heldOnUnschedulable: 0,
    reserved: null,
    pending: 0,
    teams: new Map(),
    gangs: [],
  };
}

/** Adds what is held in the leaves to everything above them. */
export function sumUpwards(queues: readonly QueueDraft[]): void {
  for (let i = queues.length - 1; i >= 0; i--) {
    const queue = queues[i];
    const parent = queue?.parent ?? null;
    const above = parent === null ? undefined : queues[parent];
    if (queue === undefined || above === undefined) continue;
    above.held += queue.held;
    above.heldOnUnschedulable += queue.heldOnUnschedulable;
  }
}

/** A finished queue. A leaf is a team's when all of its work is. */
export function queueView(draft: QueueDraft): QueueView {
  const teams = [...draft.teams.values()].sort((a, b) => (a.team < b.team ? -1 : 1));
  const [only] = teams;
  const named = draft.kind === "Team" && draft.isLeaf ? draft.name : null;
  return {
    ...draft,
    team: teams.length === 1 && only !== undefined ? only.team : teams.length === 0 ? named : null,
    teams,
  };
}

function unknownQuota(domain: string, first: string, count: number): Problem {
  const others = count === 1 ? "" : `, as those of ${count - 1} others`;
  return {
    source: "join",
    code: "queue-quota-unknown",
    severity: "warning",
    subject: first,
    message: `The quota of ${first}${others} cannot be told in GPUs: a unit of its resource is not the same part of a card on all nodes of ${domain}; nobody's entitlement is known there`,
    nextStep:
      "Give nodes that are shared in different ways flavors (or shards) of their own, or rename shared resources (renameByDefault: true in the device plugin).",
  };
}
