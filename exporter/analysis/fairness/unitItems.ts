import type { Queueing, QueueView, WaitingPart } from "../../join/queues/queueing.ts";
import type { HeldItem, ItemPlace, Placed, UnitClass, WaitingItem } from "./units.ts";
import { gpuTolerance } from "./waterFill.ts";

/** What the items of a unit are found from. */
export interface UnitWork {
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

/** What can be divided in each class of some domains, and what nobody holds there. */
export function classesOf(
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

/** What leaves hold in each class of their domain, on nodes that take pods. */
export function heldItems({ placed, classes }: UnitWork): readonly HeldItem[] {
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
export function waitingItems(work: UnitWork): readonly WaitingItem[] {
  const { queueing, placed, entityOf } = work;
  const items: WaitingItem[] = [];
  const classIndex = new Map(work.classes.map(({ domain, nodeClass }, i) => [`${domain} ${nodeClass}`, i] as const));
  const classesOfDomain = Map.groupBy(work.classes.keys(), (index) => work.classes[index]?.domain ?? -1);
  for (const [node, { index, queue }] of placed.entries()) {
    if (!queue.isLeaf || queue.pending <= gpuTolerance) continue;
    const entity = entityOf[node] ?? -1;
    const own = new Map<string, WaitingItem>();
    const add = (gpus: number, places: readonly ItemPlace[]): void => {
      const key = places === hereOnly ? "" : placesKey(places);
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

const placesKey = (places: readonly ItemPlace[]): string =>
  places.map(({ node, classes }) => `${node}:${classes.join()}`).join(" ");

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
