import type { Pod } from "../../model/pod.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** What is indexed: something about the gang that an object of a queue system (Workload, PodGroup) declares. */
export interface Indexed {
  readonly gang: Pick<DeclaredGang, "namespace" | "name" | "uid" | "ownerUids"> & {
    readonly queue: { readonly scheduler: QueueScheduler };
  };
}

const ranks: Readonly<Record<QueueScheduler, number>> = { kueue: 0, kai: 1, volcano: 2, none: 3 };

/**
 * Whether it comes first of two gangs with the same name: that of the scheduler that comes first, or else the first by name.
 */
export function isBefore({ gang: a }: Indexed, { gang: b }: Indexed): boolean {
  if (a.queue.scheduler !== b.queue.scheduler) return ranks[a.queue.scheduler] < ranks[b.queue.scheduler];
  if (a.namespace !== b.namespace) return a.namespace < b.namespace;
  return a.name === b.name ? a.uid < b.uid : a.name < b.name;
}

/** Keeps the first of several with the same key, whatever their order. */
function keepFirst<Item extends Indexed>(gangs: Map<string, Item>, key: string, members: Item): void {
  const known = gangs.get(key);
  if (known === undefined || isBefore(members, known)) gangs.set(key, members);
}

type ByNamespace<Item> = Map<string, Map<string, Item>>;

/** Objects of queue systems by the names that pods and owners use. */
export interface ObjectIndex<Item> {
  /** Those of one scheduler by namespace and name; built when a name is first looked up. */
  readonly named: (scheduler: "kueue" | "kai" | "volcano") => ByNamespace<Item>;
  /** By namespace and uid of an owner: pods of any namespace may name any uid. */
  readonly byOwner: ByNamespace<Item>;
}

/** Of several with the same name the first is found, whatever their order. */
export function indexObjects<Item extends Indexed>(gangs: readonly Item[]): ObjectIndex<Item> {
  const byOwner: ByNamespace<Item> = new Map();
  const byTopOwner: ByNamespace<Item> = new Map();
  for (const members of gangs) {
    const { namespace, ownerUids, queue } = members.gang;
    if (queue.scheduler === "none") continue;
    for (let i = 0; i < ownerUids.length; i++)
      keepFirst(inNamespace(i === 0 ? byOwner : byTopOwner, namespace), ownerUids[i] ?? "", members);
  }
  // An owner further up may have several: its own gang comes first.
  for (const [namespace, owners] of byTopOwner) {
    const known = inNamespace(byOwner, namespace);
    for (const [uid, members] of owners) if (!known.has(uid)) known.set(uid, members);
  }
  const made = new Map<QueueScheduler, ByNamespace<Item>>();
  const named = (scheduler: QueueScheduler): ByNamespace<Item> => {
    const known = made.get(scheduler) ?? namedBy(scheduler, gangs);
    made.set(scheduler, known);
    return known;
  };
  return { named, byOwner };
}

function namedBy<Item extends Indexed>(scheduler: QueueScheduler, gangs: readonly Item[]): ByNamespace<Item> {
  const byNamespace: ByNamespace<Item> = new Map();
  for (const members of gangs) {
    const { gang } = members;
    if (gang.queue.scheduler !== scheduler) continue;
    keepFirst(inNamespace(byNamespace, gang.namespace), gang.name, members);
  }
  return byNamespace;
}

function inNamespace<Item>(byNamespace: ByNamespace<Item>, namespace: string): Map<string, Item> {
  const known = byNamespace.get(namespace) ?? new Map<string, Item>();
  if (known.size === 0) byNamespace.set(namespace, known);
  return known;
}

/** The object of a pod: the one that it names, else that of its nearest owner (`owners`: nearest first) that has one. */
export function findObject<Item>(
  pod: Pod,
  owners: readonly { readonly uid: string }[],
  { named, byOwner }: ObjectIndex<Item>,
): Item | undefined {
  const owned = byOwner.get(pod.namespace);
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
    name === undefined ? undefined : named(scheduler).get(namespace)?.get(name);
  return (
    find("kueue", annotations[kueueWorkload] ?? labels[podLabels.kueuePodGroup]) ??
    find("kai", annotations[kaiPodGroup]) ??
    find("volcano", annotations[volcanoGroup] ?? annotations[podGroup])
  );
}
