import type { Queueing, QueueView, WaitingPlace } from "../../join/queues/queueing.ts";
import type { EntitledNode, Placed } from "./claims.ts";
import type { UsageHistory } from "./fairness.ts";
import { guaranteesOf } from "./guarantees.ts";
import { queueKey } from "./shortSince.ts";
import { allocatedItems, classesOf, noGang, waitingItems } from "./unitWork.ts";

/** One queue over all domains of the unit in which it has a record. */
export interface Entity {
  /** Its records: indices into `SharedUnit.nodes`. */
  readonly nodes: readonly number[];
  /** Index into `SharedUnit.entities`, smaller than its own; `null` at the top. */
  readonly parent: number | null;
  readonly children: readonly number[];
}

/** Nodes of one class, with what can be divided there. */
export interface UnitClass {
  /** Index into `Queueing.domains`, and of the class in it. */
  readonly domain: number;
  readonly nodeClass: number;
  /** Physical GPUs of nodes that take pods, without what pods outside the queues hold there. */
  readonly capacity: number;
  /** The part of the capacity that nobody holds. */
  readonly free: number;
}

/** Where an amount of waiting work may go. */
export interface ItemPlace {
  /** Index into `SharedUnit.nodes`: the record of its leaf in that domain. */
  readonly node: number;
  /** Indices into `SharedUnit.classes`; all of these classes are in the domain of the record. */
  readonly classes: readonly number[];
}

/** Waiting work of one leaf that may go to the same places. */
export interface WaitingItem {
  /** Index into `SharedUnit.entities`. */
  readonly entity: number;
  /** Physical GPUs. */
  gpus: number;
  /** The places in the order of the queue's flavors. */
  readonly places: readonly ItemPlace[];
}

/** What one leaf holds in one class, on nodes that take pods. */
export interface AllocatedItem {
  readonly node: number;
  readonly nodeClass: number;
  /** Physical GPUs. */
  readonly gpus: number;
}

/**
 * A connected set of queues and node classes, which is divided as one. Amounts are physical GPUs. What is allocated on nodes
 * that take no pods is left out of all of them (guarantees and limits are reduced by it), because it stays with its holders.
 */
export interface SharedUnit {
  /** Indices into `Queueing.domains`. */
  readonly domains: readonly number[];
  /** The records of the queues, parents before children. */
  readonly nodes: readonly EntitledNode[];
  readonly entities: readonly Entity[];
  readonly entityOf: Int32Array;
  readonly classes: readonly UnitClass[];
  readonly allocated: readonly AllocatedItem[];
  readonly waiting: readonly WaitingItem[];
  /** Work outside of queues: entitled to what it holds, and to no more. */
  readonly unqueued: readonly Placed[];
}

/** Whether nothing distinguishes where the GPUs of a unit are: there is one class for all. */
export const isUniform = ({ classes, entities, nodes }: SharedUnit): boolean =>
  classes.length <= 1 && entities.length === nodes.length;

/**
 * The units of a moment; if some domains (indices) are given, only units with one of these. Domains belong together if waiting
 * work may go to either: otherwise nothing can flow between them, and GPUs of different models are not added up. Domains with
 * unknown content are in no unit.
 */
export function unitsOf(
  queueing: Queueing,
  history: UsageHistory | null,
  only: ReadonlySet<number> | null = null,
): readonly SharedUnit[] {
  return [...eachUnit(queueing, history, only)];
}

/** The same as `unitsOf`, with each unit made when it is asked for. */
export function* eachUnit(
  queueing: Queueing,
  history: UsageHistory | null,
  only: ReadonlySet<number> | null = null,
): Generator<SharedUnit, void> {
  const groups = groupDomains(queueing);
  const sure = guaranteesOf(queueing);
  const byDomain = queuesByDomain(queueing);
  for (const domains of groups)
    if (only === null || domains.some((domain) => only.has(domain)))
      yield unitOf(queueing, history, domains, byDomain, sure);
}

/** Indices of the queues of each domain, ascending. */
function queuesByDomain({ domains, queues }: Queueing): readonly (readonly number[])[] {
  const found: number[][] = domains.map(() => []);
  for (let index = 0; index < queues.length; index++) found[queues[index]?.domain ?? -1]?.push(index);
  return found;
}

function groupDomains({ domains, gangs }: Queueing): readonly (readonly number[])[] {
  const parents = domains.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while ((parents[root] ?? root) !== root) root = parents[root] ?? root;
    parents[index] = root;
    return root;
  };
  for (let i = 0; i < gangs.length; i++) {
    const { parts, never } = gangs[i] ?? noGang;
    if (never !== null) continue;
    for (let n = 0; n < parts.length; n++) {
      const { domain: first = null, places = noPlaces } = parts[n] ?? {};
      for (let k = 0; k < places.length; k++) {
        const domain = places[k]?.domain ?? -1;
        if (first === null || domain === first || parents[domain] === parents[first]) continue;
        if (domains[domain]?.unknownBecause === null) parents[rootOf(domain)] = rootOf(first);
      }
    }
  }
  const known = domains.flatMap(({ unknownBecause }, index) => (unknownBecause === null ? [index] : []));
  return [...Map.groupBy(known, rootOf).values()];
}

const noPlaces: readonly WaitingPlace[] = [];

function unitOf(
  queueing: Queueing,
  history: UsageHistory | null,
  domains: readonly number[],
  byDomain: readonly (readonly number[])[],
  sure: Float64Array,
): SharedUnit {
  const nodes: OpenNode[] = [];
  const unqueued: Placed[] = [];
  const places = new Int32Array(queueing.queues.length).fill(-1);
  // Parents come before children.
  for (const domain of domains)
    for (const index of byDomain[domain] ?? []) {
      const queue = queueing.queues[index];
      if (queue === undefined) continue;
      if (queue.kind === "Unqueued") {
        unqueued.push({ index, queue });
        continue;
      }
      const above = places[queue.parent ?? -1] ?? -1;
      const usage = history?.usage.get(queueKey(queue, queueing.domains[domain]?.name ?? "")) ?? 0;
      places[index] = nodes.push(nodeOf({ index, queue }, sure[index] ?? 0, above === -1 ? null : above, usage)) - 1;
    }
  restoreSums(nodes, sure);
  const { entities, entityOf } = entitiesOf(nodes);
  const classes = classesOf(queueing, domains, nodes, unqueued);
  const work = { queueing, nodes, places, entityOf, classes };
  const waiting = waitingItems(work);
  if (domains.length > 1) addDemandFromElsewhere(nodes, waiting);
  return {
    domains,
    entities,
    entityOf,
    classes,
    unqueued,
    waiting,
    nodes,
    allocated: allocatedItems(work),
  };
}

/** A node whose amounts are still being found. */
type OpenNode = { -readonly [Key in keyof EntitledNode]: EntitledNode[Key] };

/** Combines the records of one queue in several domains into one entity. */
function entitiesOf(nodes: readonly EntitledNode[]): Pick<SharedUnit, "entities" | "entityOf"> {
  const entities: { readonly nodes: number[]; readonly parent: number | null; readonly children: number[] }[] = [];
  const entityOf = new Int32Array(nodes.length).fill(-1);
  const byName: EntitiesOfKind[] = [];
  for (let node = 0; node < nodes.length; node++) {
    const { queue, parent: place } = nodes[node] ?? {};
    if (queue === undefined) continue;
    const ofKind = entitiesOfKind(queue, byName);
    const known = ofKind.get(queue.name) ?? -1;
    const named = entities[known];
    if (named !== undefined && !hasRecordIn(queue.domain, named.nodes, nodes)) {
      named.nodes.push(node);
      entityOf[node] = known;
      continue;
    }
    const above = entityOf[place ?? -1] ?? null;
    const entity = entities.push({ nodes: [node], parent: above, children: [] }) - 1;
    entityOf[node] = entity;
    ofKind.set(queue.name, entity);
    if (above !== null) entities[above]?.children.push(entity);
  }
  return { entities, entityOf };
}

/** The entities of one kind of one scheduler, by name. */
interface EntitiesOfKind {
  readonly scheduler: QueueView["scheduler"];
  readonly kind: QueueView["kind"];
  readonly byName: Map<string, number>;
}

/** There are only a few kinds: a key of all three names would be made for each of the records. */
function entitiesOfKind({ scheduler, kind }: QueueView, all: EntitiesOfKind[]): Map<string, number> {
  for (const one of all) if (one.scheduler === scheduler && one.kind === kind) return one.byName;
  const byName = new Map<string, number>();
  all.push({ scheduler, kind, byName });
  return byName;
}

function hasRecordIn(domain: number, records: readonly number[], nodes: readonly EntitledNode[]): boolean {
  for (const one of records) if (nodes[one]?.queue.domain === domain) return true;
  return false;
}

/**
 * Makes the node of a queue. What is allocated on nodes that take no pods uses its quota first, beginning with the part that it
 * does not lend.
 */
function nodeOf({ index, queue }: Placed, sure: number, parent: number | null, usage: number): OpenNode {
  const { allocatedOnUnschedulable: lost, limit, lendingLimit, allocated, pending } = queue;
  const guaranteed = Math.max(0, sure - lost);
  const kept = Math.max(0, Math.max(0, sure - lendingLimit) - lost);
  return {
    index,
    queue,
    parent,
    guaranteed,
    usage,
    limit: Math.max(0, limit - lost),
    lendingLimit: lendingLimit === Number.POSITIVE_INFINITY ? lendingLimit : guaranteed - kept,
    allocated: Math.max(0, allocated - lost),
    demand: Math.max(0, allocated - lost) + pending,
  };
}

/**
 * A child that has lost more than its quota takes nothing from the guarantees of its siblings, because its parents have this in
 * their guarantees and limits, too. An artificial root is no more than its queues: its limit decreases by what they lose of
 * theirs.
 */
function restoreSums(nodes: readonly OpenNode[], sure: Float64Array): void {
  const below = new Float64Array(nodes.length);
  const lostBelow = new Float64Array(nodes.length);
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node === undefined) continue;
    const { index, queue } = node;
    const promised = Math.min(sure[index] ?? 0, below[i] ?? 0);
    const guaranteed = Math.max(node.guaranteed, promised);
    const isRoot = queue.kind === "Scheduler" && queue.children.length > 0;
    const most = isRoot ? queue.limit - (lostBelow[i] ?? 0) : Math.min(queue.limit, promised);
    const limit = Math.max(node.limit, most);
    // What the node keeps for itself does not grow by this.
    if (guaranteed !== node.guaranteed) node.lendingLimit = node.lendingLimit + guaranteed - node.guaranteed;
    node.guaranteed = guaranteed;
    node.limit = limit;
    if (node.parent === null) continue;
    below[node.parent] = (below[node.parent] ?? 0) + guaranteed;
    const lost = limit === Number.POSITIVE_INFINITY ? queue.allocatedOnUnschedulable : queue.limit - limit;
    lostBelow[node.parent] = (lostBelow[node.parent] ?? 0) + lost;
  }
}

/** Adds demand from elsewhere: work that waits in one domain is demand in every domain to which it may go. */
function addDemandFromElsewhere(nodes: readonly OpenNode[], waiting: readonly WaitingItem[]): void {
  const asked = new Float64Array(nodes.length);
  for (const { gpus, places } of waiting) for (const { node } of places) asked[node] = (asked[node] ?? 0) + gpus;
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    if (node?.queue.isLeaf === true) node.demand = node.allocated + (asked[i] ?? 0);
  }
}
