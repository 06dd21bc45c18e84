import { innerMap } from "../../kernel/innerMap.ts";
import { once } from "../../kernel/once.ts";
import type { Pod } from "../../model/pod.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** What is indexed: the object of a queue system (Workload, PodGroup), or the gang that it declares. */
export interface Indexed extends Pick<DeclaredGang, "namespace" | "name" | "uid" | "ownerUids"> {
  readonly queue: { readonly scheduler: QueueScheduler };
}

const ranks: Readonly<Record<QueueScheduler, number>> = { kueue: 0, kai: 1, volcano: 2, none: 3 };

/**
 * Whether one gang comes before another gang with the same name: the one of the earlier scheduler does, else the first by name.
 */
export function isBefore(a: Indexed, b: Indexed): boolean {
  if (a.queue.scheduler !== b.queue.scheduler) return ranks[a.queue.scheduler] < ranks[b.queue.scheduler];
  if (a.namespace !== b.namespace) return a.namespace < b.namespace;
  return a.name === b.name ? a.uid < b.uid : a.name < b.name;
}

/** Keeps the first of several items with the same key, whatever their order. */
function keepFirst<Item extends Indexed>(items: Map<string, Item>, key: string, item: Item): void {
  const known = items.get(key);
  if (known === undefined || isBefore(item, known)) items.set(key, item);
}

/** Objects of queue systems in one namespace, by the names that pods and owners use. */
export interface ObjectIndex<Item> {
  /** The objects of each scheduler, by name. */
  readonly named: () => ReadonlyMap<QueueScheduler, ReadonlyMap<string, Item>>;
  /** The objects by uid of an owner: pods of any namespace may name any uid. */
  readonly byOwner: () => ReadonlyMap<string, Item>;
}

/** Indexes the objects of a namespace. Of several with the same name the first is found, whatever their order. */
export function indexObjects<Item extends Indexed>(items: readonly Item[]): ObjectIndex<Item> {
  return { named: once(() => byName(items)), byOwner: once(() => ownedBy(items)) };
}

/** By the uid of an owner. One further up may have several: its own gang comes first. */
function ownedBy<Item extends Indexed>(items: readonly Item[]): ReadonlyMap<string, Item> {
  const byOwner = new Map<string, Item>();
  const byTopOwner = new Map<string, Item>();
  for (const item of items) {
    const { ownerUids, queue } = item;
    if (queue.scheduler === "none") continue;
    for (let i = 0; i < ownerUids.length; i++) keepFirst(i === 0 ? byOwner : byTopOwner, ownerUids[i] ?? "", item);
  }
  for (const [uid, item] of byTopOwner) if (!byOwner.has(uid)) byOwner.set(uid, item);
  return byOwner;
}

function byName<Item extends Indexed>(items: readonly Item[]): ReadonlyMap<QueueScheduler, ReadonlyMap<string, Item>> {
  const named = new Map<QueueScheduler, Map<string, Item>>();
  for (const item of items) keepFirst(innerMap(named, item.queue.scheduler), item.name, item);
  return named;
}

/**
 * The object of a pod, by the index of its namespace: the one that it names, else that of its nearest owner (`owners`: nearest
 * first) that has one.
 */
export function findObject<Item>(
  pod: Pod,
  owners: readonly { readonly uid: string }[],
  { named, byOwner }: ObjectIndex<Item>,
): Item | undefined {
  const owned = byOwner();
  const byPod = namedObject(pod, named) ?? (pod.owner === null ? undefined : owned.get(pod.owner.uid));
  if (byPod !== undefined) return byPod;
  for (const { uid } of owners) {
    const found = owned.get(uid);
    if (found !== undefined) return found;
  }
  return owned.get(pod.uid);
}

function namedObject<Item>({ annotations, labels }: Pod, named: ObjectIndex<Item>["named"]): Item | undefined {
  const { kueueWorkload, kaiPodGroup, volcanoGroup, podGroup } = podAnnotations;
  const find = (scheduler: "kueue" | "kai" | "volcano", name: string | undefined): Item | undefined =>
    name === undefined ? undefined : named().get(scheduler)?.get(name);
  return (
    find("kueue", annotations[kueueWorkload] ?? labels[podLabels.kueuePodGroup]) ??
    find("kai", annotations[kaiPodGroup]) ??
    find("volcano", annotations[volcanoGroup] ?? annotations[podGroup])
  );
}
