import type { Queueing, QueueView, WaitingPart } from "../../join/queues/queueing.ts";
import type { EntitledNode } from "./claims.ts";
import type { UsageHistory } from "./fairness.ts";
import { guaranteesOf } from "./guarantees.ts";
import { queueKey } from "./shortSince.ts";
import { gpuTolerance } from "./waterFill.ts";

/** A queue with its index into `Queueing.queues`. */
export interface Placed {
  readonly index: number;
  readonly queue: QueueView;
}

/** One queue over all domains of the unit in which it has a record. */
export interface Entity {
  /** Its records: indices into `SharedUnit.nodes`. */
  readonly nodes: readonly number[];
  /** Index into `SharedUnit.entities`, smaller than its own; `null` at the top. */
  readonly parent: number | null;
  readonly children: readonly number[];
}

/** Nodes of one class with what can be divided there. */
export interface UnitClass {
  /** Index into `Queueing.domains`, and of the class in it. */
  readonly domain: number;
  readonly nodeClass: number;
  /** Physical GPUs of nodes that take pods, without what pods past the queues hold there. */
  readonly capacity: number;
  /** Of the capacity: what nobody holds. */
  readonly free: number;
}

/** Where an amount of waiting work may go. */
export interface ItemPlace {
  /** Index into `SharedUnit.nodes`: the record of its leaf in that domain. */
  readonly node: number;
  /** Indices into `SharedUnit.classes`, all of the domain of the record. */
  readonly classes: readonly number[];
}

/** Waiting work of one leaf that may go to the same places. */
export interface WaitingItem {
  /** Index into `SharedUnit.entities`. */
  readonly entity: number;
  /** Physical GPUs. */
  gpus: number;
  /** In the order of the queue's flavors. */
  readonly places: readonly ItemPlace[];
}

/** What one leaf holds in one class, on nodes that take pods. */
export interface HeldItem {
  readonly node: number;
  readonly nodeClass: number;
  /** Physical GPUs. */
  readonly gpus: number;
}

/**
 * A connected set of queues and node classes: what is divided as one. Amounts are physical GPUs. What is held on nodes that
 * take no pods is left out of all of them (guarantees and limits are less by as much): it stays with those who hold it.
 */
export interface SharedUnit {
  /** Indices into `Queueing.domains`. */
  readonly domains: readonly number[];
  readonly placed: readonly Placed[];
  /** Parallel to `placed`: parents before children. */
  readonly nodes: readonly EntitledNode[];
  /** Of each node: held on nodes that take no pods. */
  readonly lost: Float64Array;
  readonly entities: readonly Entity[];
  readonly entityOf: Int32Array;
  readonly classes: readonly UnitClass[];
  readonly held: readonly HeldItem[];
  readonly waiting: readonly WaitingItem[];
  /** What no queue answers for: entitled to what it holds, and to no more. */
  readonly unqueued: readonly Placed[];
}

/** Whether nothing tells apart where its GPUs are: one class for all. */
export const isUniform = ({ classes, entities, nodes }: SharedUnit): boolean =>
  classes.length <= 1 && entities.length === nodes.length;

/**
 * The units of a moment; only those with one of some domains (indices) where these are given. Domains belong together where
 * waiting work may go to either: else nothing can flow between them, and GPUs of different models are not added up. Domains of
 * which nobody knows what is in them are in none.
 */
export function unitsOf(
  queueing: Queueing,
  history: UsageHistory | null,
  only: ReadonlySet<number> | null = null,
): readonly SharedUnit[] {
  const groups = groupDomains(queueing);
  const sure = guaranteesOf(queueing);
  const byDomain = Map.groupBy(queueing.queues.keys(), (index) => queueing.queues[index]?.domain ?? -1);
  return groups
    .filter((domains) => only === null || domains.some((domain) => only.has(domain)))
    .map((domains) => unitOf(queueing, history, domains, byDomain, sure));
}

function groupDomains({ domains, gangs }: Queueing): readonly (readonly number[])[] {
  const parents = domains.map((_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    while ((parents[root] ?? root) !== root) root = parents[root] ?? root;
    parents[index] = root;
    return root;
  };
  for (const { parts, never } of gangs) {
    if (never !== null) continue;
    for (const { domain: first, places = [] } of parts)
      for (const { domain } of places)
        if (first !== null && domains[domain]?.unknownBecause === null) parents[rootOf(domain)] = rootOf(first);
  }
  const known = domains.flatMap(({ unknownBecause }, index) => (unknownBecause === null ? [index] : []));
  return [...Map.groupBy(known, rootOf).values()];
}

function unitOf(
  queueing: Queueing,
  history: UsageHistory | null,
  domains: readonly number[],
  byDomain: ReadonlyMap<number, readonly number[]>,
  sure: Float64Array,
): SharedUnit {
  const placed: Placed[] = [];
  const unqueued: Placed[] = [];
  const nodes: EntitledNode[] = [];
  const lost: number[] = [];
  const entities: { nodes: number[]; parent: number | null; children: number[] }[] = [];
  const entityOf: number[] = [];
  const byName = new Map<string, number>();
  const places = new Map<number, number>();
  for (const domain of domains)
    for (const index of byDomain.get(domain) ?? []) {
      const queue = queueing.queues[index];
      if (queue === undefined) continue;
      if (queue.kind === "Unqueued") {
        unqueued.push({ index, queue });
        continue;
      }
      const parent = queue.parent === null ? null : (places.get(queue.parent) ?? null);
      const node = placed.push({ index, queue }) - 1;
      places.set(index, node);
      lost.push(queue.heldOnUnschedulable);
      const usage = history?.usage.get(queueKey(queue, queueing.domains[domain]?.name ?? "")) ?? 0;
      nodes.push(nodeOf(index, queue, sure[index] ?? 0, parent, usage));
      const key = queue.scheduler === "kueue" ? `${queue.kind}/${queue.name}` : `${index}`;
      const named = byName.get(key);
      const isElsewhere = entities[named ?? -1]?.nodes.every((one) => placed[one]?.queue.domain !== domain) === true;
      const known = isElsewhere ? named : undefined;
      if (known !== undefined) entities[known]?.nodes.push(node);
      const entity = known ?? entities.push({ nodes: [node], parent: null, children: [] }) - 1;
      entityOf.push(entity);
      if (known !== undefined) continue;
      byName.set(key, entity);
      const above = parent === null ? null : (entityOf[parent] ?? null);
      if (above === null) continue;
      const created = entities[entity];
      if (created !== undefined) created.parent = above;
      entities[above]?.children.push(entity);
    }
  restoreSums(nodes, placed, sure);
  const classes = classesOf(queueing, domains, placed, unqueued);
  const work = { queueing, placed, places, entityOf, classes };
  return {
    ...{ domains, placed, nodes, entities, classes, unqueued },
    lost: Float64Array.from(lost),
    entityOf: Int32Array.from(entityOf),
    held: heldItems(work),
    waiting: waitingItems(work),
  };
}

/** What is held on nodes that take no pods uses the queue's quota first, and of that the part that it lends to nobody. */
function nodeOf(id: number, queue: QueueView, sure: number, parent: number | null, usage: number): EntitledNode {
  const { heldOnUnschedulable: lost, limit, lendingLimit, held, pending } = queue;
  const guaranteed = Math.max(0, sure - lost);
  const kept = Math.max(0, Math.max(0, sure - lendingLimit) - lost);
  return {
    ...{ id, parent, guaranteed, usage },
    limit: Math.max(0, limit - lost),
    lendingLimit: lendingLimit === Number.POSITIVE_INFINITY ? lendingLimit : guaranteed - kept,
    weight: queue.weight,
    zeroWeight: queue.zeroWeight,
    priority: queue.priority,
    isFloor: queue.guaranteeIsFloor ?? false,
    held: Math.max(0, held - lost),
    demand: Math.max(0, held - lost) + pending,
  };
}

/** A child that has lost more than its quota takes nothing of what its siblings are sure of: parents are sure of that, too. */
function restoreSums(nodes: EntitledNode[], placed: readonly Placed[], sure: Float64Array): void {
  const below = new Float64Array(nodes.length);
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i];
    if (node === undefined) continue;
    const most = Math.min(sure[placed[i]?.index ?? -1] ?? 0, below[i] ?? 0);
    if (node.guaranteed < most) nodes[i] = { ...node, guaranteed: most };
    if (node.parent !== null) below[node.parent] = (below[node.parent] ?? 0) + (nodes[i]?.guaranteed ?? 0);
  }
}

interface UnitWork {
  readonly queueing: Queueing;
  readonly placed: readonly Placed[];
  /** By index into `Queueing.queues`: index into `placed`. */
  readonly places: ReadonlyMap<number, number>;
  readonly entityOf: readonly number[];
  readonly classes: readonly UnitClass[];
}

/** What a leaf holds in a class of its domain, on nodes that take pods. */
function heldIn({ held, heldOnUnschedulable, heldByClass }: QueueView, nodeClass: number, classCount: number): number {
  const own = heldByClass?.[nodeClass];
  if (own !== undefined) return Math.max(0, own.held - own.heldOnUnschedulable);
  return classCount < 2 ? Math.max(0, held - heldOnUnschedulable) : 0;
}

function classesOf(
  { domains: all }: Queueing,
  domains: readonly number[],
  placed: readonly Placed[],
  unqueued: readonly Placed[],
): readonly UnitClass[] {
  return domains.flatMap((domain) => {
    const { classes, capacity, heldOnUnschedulable } = all[domain] ?? { capacity: 0, heldOnUnschedulable: 0 };
    const count = classes?.length ?? 1;
    const inDomain = (one: Placed) => one.queue.domain === domain && one.queue.isLeaf;
    const [leaves, past] = [placed.filter(inDomain), unqueued.filter(inDomain)];
    return Array.from({ length: count }, (_, nodeClass): UnitClass => {
      const sumOf = (list: readonly Placed[]) =>
        list.reduce((sum, { queue }) => sum + heldIn(queue, nodeClass, count), 0);
      const whole = classes?.[nodeClass]?.capacity ?? capacity - heldOnUnschedulable;
      const divided = Math.max(0, whole - sumOf(past));
      return { domain, nodeClass, capacity: divided, free: Math.max(0, divided - sumOf(leaves)) };
    });
  });
}

function heldItems({ placed, classes }: UnitWork): readonly HeldItem[] {
  const counts = new Map<number, number>();
  for (const { domain } of classes) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  const byDomain = Map.groupBy(classes.keys(), (index) => classes[index]?.domain ?? -1);
  return placed.flatMap(({ queue }, node) => {
    if (!queue.isLeaf) return [];
    const count = counts.get(queue.domain) ?? 1;
    return (byDomain.get(queue.domain) ?? []).flatMap((nodeClass): HeldItem[] => {
      const gpus = heldIn(queue, classes[nodeClass]?.nodeClass ?? 0, count);
      return gpus > 0 ? [{ node, nodeClass, gpus }] : [];
    });
  });
}

/** Eligible waiting work by leaf and by where it may go. */
function waitingItems(work: UnitWork): readonly WaitingItem[] {
  const { queueing, placed, entityOf } = work;
  const items: WaitingItem[] = [];
  const classIndex = new Map(work.classes.map(({ domain, nodeClass }, i) => [`${domain} ${nodeClass}`, i] as const));
  const classesOfDomain = Map.groupBy(work.classes.keys(), (index) => work.classes[index]?.domain ?? -1);
  for (const [node, { index, queue }] of placed.entries()) {
    if (!queue.isLeaf || queue.pending <= gpuTolerance) continue;
    const entity = entityOf[node] ?? -1;
    const own = new Map<string, WaitingItem>();
    const add = (gpus: number, places: readonly ItemPlace[]): void => {
      const key = places === hereOnly ? "" : JSON.stringify(places);
      const known = own.get(key);
      if (known !== undefined) known.gpus += gpus;
      else own.set(key, { entity, gpus, places });
    };
    const hereOnly: readonly ItemPlace[] = [{ node, classes: classesOfDomain.get(queue.domain) ?? [] }];
    let told = 0;
    for (const gangIndex of queue.gangs) {
      const gang = queueing.gangs[gangIndex];
      if (gang === undefined || gang.never !== null) continue;
      for (const part of gang.parts) {
        const gpus = part.queue === index ? part.pods * (part.gpusPerPod ?? 0) : 0;
        if (gpus <= 0) continue;
        told += gpus;
        add(gpus, placesOf(part, hereOnly, work, classIndex, classesOfDomain));
      }
    }
    // What is counted as pending and in no gang that is known may go anywhere in its domain.
    if (queue.pending - told > gpuTolerance) add(queue.pending - told, hereOnly);
    items.push(...own.values());
  }
  return items;
}

function placesOf(
  { places = [] }: WaitingPart,
  hereOnly: readonly ItemPlace[],
  { places: nodeOfQueue }: UnitWork,
  classIndex: ReadonlyMap<string, number>,
  classesOfDomain: ReadonlyMap<number, readonly number[]>,
): readonly ItemPlace[] {
  const found = places.flatMap(({ queue, domain, classes }): ItemPlace[] => {
    const node = nodeOfQueue.get(queue);
    if (node === undefined) return [];
    if (classes === null) return [{ node, classes: classesOfDomain.get(domain) ?? [] }];
    return [{ node, classes: classes.flatMap((one) => classIndex.get(`${domain} ${one}`) ?? []) }];
  });
  return found.length === 0 ? hereOnly : found;
}
