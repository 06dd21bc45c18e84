import type { Pod } from "../../model/pod.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import { byNamespace, type NamespaceIndex } from "./byNamespace.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** What is indexed: something about the gang that an object of a queue system (Workload, PodGroup) declares. */
export interface Indexed {
  readonly gang: Pick<DeclaredGang, "namespace" | "name" | "uid" | "ownerUids"> & {
    readonly queue: { readonly scheduler: QueueScheduler };
  };
}

const ranks: Readonly<Record<QueueScheduler, number>> = { kueue: 0, kai: 1, volcano: 2, none: 3 };

/**
 * Whether one gang comes before another gang with the same name: the one of the earlier scheduler does, else the first by name.
 */
export function isBefore({ gang: a }: Indexed, { gang: b }: Indexed): boolean {
  if (a.queue.scheduler !== b.queue.scheduler) return ranks[a.queue.scheduler] < ranks[b.queue.scheduler];
  if (a.namespace !== b.namespace) return a.namespace < b.namespace;
  return a.name === b.name ? a.uid < b.uid : a.name < b.name;
}

/** Keeps the first of several items with the same key, whatever their order. */
function keepFirst<Item extends Indexed>(gangs: Map<string, Item>, key: string, members: Item): void {
  const known = gangs.get(key);
  if (known === undefined || isBefore(members, known)) gangs.set(key, members);
}

/** Objects of queue systems by the names that pods and owners use. */
export interface ObjectIndex<Item> {
  /** The objects of one scheduler, by name. */
  readonly named: (scheduler: "kueue" | "kai" | "volcano") => NamespaceIndex<ReadonlyMap<string, Item>>;
  /** The objects by uid of an owner: pods of any namespace may name any uid. */
  readonly byOwner: NamespaceIndex<ReadonlyMap<string, Item>>;
}

/** Indexes objects. Of several with the same name the first is found, whatever their order. */
export function indexObjects<Item extends Indexed>(gangs: readonly Item[]): ObjectIndex<Item> {
  const made = new Map<QueueScheduler, NamespaceIndex<ReadonlyMap<string, Item>>>();
  const named = (scheduler: QueueScheduler): NamespaceIndex<ReadonlyMap<string, Item>> => {
    const known = made.get(scheduler) ?? byNamespace(gangs, namespaceOf, (own) => namedBy(scheduler, own));
    made.set(scheduler, known);
    return known;
  };
  return { named, byOwner: byNamespace(gangs, namespaceOf, ownedBy) };
}

const namespaceOf = ({ gang }: Indexed): string => gang.namespace;

/** By the uid of an owner. One further up may have several: its own gang comes first. */
function ownedBy<Item extends Indexed>(gangs: readonly Item[]): ReadonlyMap<string, Item> {
  const byOwner = new Map<string, Item>();
  const byTopOwner = new Map<string, Item>();
  for (const members of gangs) {
    const { ownerUids, queue } = members.gang;
    if (queue.scheduler === "none") continue;
    for (let i = 0; i < ownerUids.length; i++) keepFirst(i === 0 ? byOwner : byTopOwner, ownerUids[i] ?? "", members);
  }
  for (const [uid, members] of byTopOwner) if (!byOwner.has(uid)) byOwner.set(uid, members);
  return byOwner;
}

function namedBy<Item extends Indexed>(scheduler: QueueScheduler, gangs: readonly Item[]): ReadonlyMap<string, Item> {
  const byName = new Map<string, Item>();
  for (const members of gangs) {
    const { gang } = members;
    if (gang.queue.scheduler === scheduler) keepFirst(byName, gang.name, members);
  }
  return byName;
}

/** The object of a pod: the one that it names, else that of its nearest owner (`owners`: nearest first) that has one. */
export function findObject<Item>(
  pod: Pod,
  owners: readonly { readonly uid: string }[],
  { named, byOwner }: ObjectIndex<Item>,
): Item | undefined {
  const owned = byOwner(pod.namespace);
  const byPod = namedObject(pod, named) ?? (pod.owner === null ? undefined : owned?.get(pod.owner.uid));
  if (byPod !== undefined || owned === undefined) return byPod;
  for (const { uid } of owners) {
    const found = owned.get(uid);
    if (found !== undefined) return found;
  }
  return owned.get(pod.uid);
}

function namedObject<Item>(
  { namespace, annotations, labels }: Pod,
  named: ObjectIndex<Item>["named"],
): Item | undefined {
  const { kueueWorkload, kaiPodGroup, volcanoGroup, podGroup } = podAnnotations;
  const find = (scheduler: "kueue" | "kai" | "volcano", name: string | undefined): Item | undefined =>
    name === undefined ? undefined : named(scheduler)(namespace)?.get(name);
  return (
    find("kueue", annotations[kueueWorkload] ?? labels[podLabels.kueuePodGroup]) ??
    find("kai", annotations[kaiPodGroup]) ??
    find("volcano", annotations[volcanoGroup] ?? annotations[podGroup])
  );
}
