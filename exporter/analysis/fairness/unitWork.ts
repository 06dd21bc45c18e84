import type { Queueing, QueueView, WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { Placed } from "./claims.ts";
import type { AllocatedItem, ItemPlace, UnitClass, WaitingItem } from "./units.ts";

/** What is known about a unit before its work is added. */
export interface UnitWork {
  readonly queueing: Queueing;
  readonly nodes: readonly Placed[];
  /** Index into `nodes`, by index into `Queueing.queues`; -1: it is in another unit. */
  readonly places: Int32Array;
  readonly entityOf: Int32Array;
  readonly classes: readonly UnitClass[];
}

/** What a leaf holds in a class of its domain, on nodes that take pods. */
function allocatedIn(
  { allocated, allocatedOnUnschedulable, allocatedByClass }: QueueView,
  nodeClass: number,
  classCount: number,
): number {
  const own = allocatedByClass?.[nodeClass];
  if (own !== undefined) return Math.max(0, own.allocated - own.allocatedOnUnschedulable);
  return classCount < 2 ? Math.max(0, allocated - allocatedOnUnschedulable) : 0;
}

/** The node classes of some domains, with what can be divided in each. */
export function classesOf(
  { domains: all }: Queueing,
  domains: readonly number[],
  nodes: readonly Placed[],
  unqueued: readonly Placed[],
): readonly UnitClass[] {
  const leavesOf = (list: readonly Placed[]) =>
    Map.groupBy(
      list.filter(({ queue }) => queue.isLeaf),
      ({ queue }) => queue.domain,
    );
  const [ownLeaves, pastLeaves] = [leavesOf(nodes), leavesOf(unqueued)];
  return domains.flatMap((domain) => {
    const { classes, capacity, allocatedOnUnschedulable } = all[domain] ?? { capacity: 0, allocatedOnUnschedulable: 0 };
    const count = classes?.length ?? 1;
    const [leaves, past] = [ownLeaves.get(domain) ?? [], pastLeaves.get(domain) ?? []];
    return Array.from({ length: count }, (_, nodeClass): UnitClass => {
      const sumOf = (list: readonly Placed[]) =>
        list.reduce((sum, { queue }) => sum + allocatedIn(queue, nodeClass, count), 0);
      const whole = classes?.[nodeClass]?.capacity ?? capacity - allocatedOnUnschedulable;
      const divided = Math.max(0, whole - sumOf(past));
      return { domain, nodeClass, capacity: divided, free: Math.max(0, divided - sumOf(leaves)) };
    });
  });
}

/** What leaves hold, by leaf and class. */
export function allocatedItems({ nodes, classes }: UnitWork): readonly AllocatedItem[] {
  const counts = new Map<number, number>();
  for (const { domain } of classes) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  const byDomain = Map.groupBy(classes.keys(), (index) => classes[index]?.domain ?? -1);
  const items: AllocatedItem[] = [];
  for (let node = 0; node < nodes.length; node++) {
    const queue = nodes[node]?.queue;
    if (queue?.isLeaf !== true) continue;
    const count = counts.get(queue.domain) ?? 1;
    for (const nodeClass of byDomain.get(queue.domain) ?? []) {
      const gpus = allocatedIn(queue, classes[nodeClass]?.nodeClass ?? 0, count);
      if (gpus > 0) items.push({ node, nodeClass, gpus });
    }
  }
  return items;
}

/** Eligible waiting work by leaf and by where it may go. */
export function waitingItems(work: UnitWork): readonly WaitingItem[] {
  const sites: ClassSites = {
    ofDomain: Map.groupBy(work.classes.keys(), (index) => work.classes[index]?.domain ?? -1),
  };
  const items: WaitingItem[] = [];
  for (let node = 0; node < work.nodes.length; node++) {
    const queue = work.nodes[node]?.queue;
    if (queue?.isLeaf === true && queue.pending > gpuTolerance) addItemsOf(node, work, sites, items);
  }
  return items;
}

/** Indices of the classes of a domain, in their order. */
interface ClassSites {
  readonly ofDomain: ReadonlyMap<number, readonly number[]>;
}

function addItemsOf(node: number, work: UnitWork, sites: ClassSites, items: WaitingItem[]): void {
  const { queueing, nodes, entityOf } = work;
  const place = nodes[node];
  if (place === undefined) return;
  const { index, queue } = place;
  const hereOnly: readonly ItemPlace[] = [{ node, classes: sites.ofDomain.get(queue.domain) ?? [] }];
  const own: OwnItems = { entity: entityOf[node] ?? -1, byKey: new Map(), byPlaces: new Map() };
  let reported = 0;
  for (const [parts, count] of alikeParts(queue, queueing)) {
    for (const part of parts) {
      const gpus = part.queue === index ? count * part.pods * (part.gpusPerPod ?? 0) : 0;
      if (gpus <= 0) continue;
      reported += gpus;
      const item = own.byPlaces.get(part.places) ?? itemOf(own, part, placesOf(part, hereOnly, work, sites), hereOnly);
      item.gpus += gpus;
    }
  }
  // Work that is counted as pending and is in no known gang may go anywhere in its domain.
  if (queue.pending - reported > gpuTolerance)
    itemOf(own, noPlaces, hereOnly, hereOnly).gpus += queue.pending - reported;
  for (const item of own.byKey.values()) items.push(item);
}

/** How many gangs of a leaf have the very same parts, which those that are alike share; without those that can never run. */
function alikeParts({ gangs }: QueueView, queueing: Queueing): ReadonlyMap<WaitingGang["parts"], number> {
  const counts = new Map<WaitingGang["parts"], number>();
  for (let n = 0; n < gangs.length; n++) {
    const { parts, never } = queueing.gangs[gangs[n] ?? -1] ?? noGang;
    if (never === null) counts.set(parts, (counts.get(parts) ?? 0) + 1);
  }
  return counts;
}

/** A gang that asks for nothing. */
export const noGang: Pick<WaitingGang, "parts" | "never"> = { parts: [], never: null };
const noPlaces: Pick<WaitingPart, "places"> = {};

/** The items of one leaf so far. Many parts have the very same places, and others have equal ones. */
interface OwnItems {
  readonly entity: number;
  readonly byKey: Map<string, WaitingItem>;
  readonly byPlaces: Map<WaitingPart["places"], WaitingItem>;
}

/** The item of the parts with these places. */
function itemOf(
  { entity, byKey, byPlaces }: OwnItems,
  part: Pick<WaitingPart, "places">,
  places: readonly ItemPlace[],
  hereOnly: readonly ItemPlace[],
): WaitingItem {
  const key = places === hereOnly ? "" : placesKey(places);
  const item = byKey.get(key) ?? { entity, gpus: 0, places };
  byKey.set(key, item);
  byPlaces.set(part.places, item);
  return item;
}

/** The key of places; it is never empty. */
const placesKey = (places: readonly ItemPlace[]): string =>
  places.map(({ node, classes }) => `${node}:${classes.join()}`).join(";");

function placesOf(
  { places = [] }: WaitingPart,
  hereOnly: readonly ItemPlace[],
  { places: nodeOfQueue }: UnitWork,
  { ofDomain }: ClassSites,
): readonly ItemPlace[] {
  const found = places.flatMap(({ queue, domain, classes }): ItemPlace[] => {
    const node = nodeOfQueue[queue] ?? -1;
    if (node === -1) return [];
    if (classes === null) return [{ node, classes: ofDomain.get(domain) ?? [] }];
    return [{ node, classes: classes.flatMap((one) => ofDomain.get(domain)?.[one] ?? []) }];
  });
  return found.length === 0 ? hereOnly : found;
}
