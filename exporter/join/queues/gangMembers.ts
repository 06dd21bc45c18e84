import type { Steps } from "../../kernel/steps.ts";
import type { Pod } from "../../model/pod.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import type { QueuedPod, QueueingInput } from "./queueingInput.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** A gang that an object of a queue system declares, with its pods by index. */
export interface GangMembers {
  readonly gang: DeclaredGang;
  readonly bound: number[];
  readonly waiting: number[];
}

/** All declared gangs, and the waiting pods that none of them has. */
export interface MatchedGangs {
  readonly gangs: readonly GangMembers[];
  readonly rest: readonly number[];
}

const podsPerStep = 10_000;

/** Finds the pods of each declared gang: by the name that the pod gives it, else by the nearest owner that it shares. */
export function* matchGangs(input: QueueingInput): Steps<MatchedGangs> {
  const gangs = input.systems
    .flatMap((system) => system.gangs)
    .map((gang): GangMembers => ({ gang, bound: [], waiting: [] }));
  const rest: number[] = [];
  const index = gangs.length === 0 ? null : indexGangs(gangs);
  for (const [i, { status }] of input.pods.entries()) {
    if (i % podsPerStep === podsPerStep - 1) yield;
    if (index === null) {
      if (status === "pending") rest.push(i);
      continue;
    }
    const queued = input.queued(i);
    const found = queued === null ? undefined : gangOf(queued, index);
    if (status === "held") found?.bound.push(i);
    else if (found === undefined) rest.push(i);
    else found.waiting.push(i);
  }
  return { gangs, rest };
}

const ranks: Readonly<Record<QueueScheduler, number>> = { kueue: 0, kai: 1, volcano: 2, none: 3 };

/** Of two gangs that are called alike: that of the scheduler that comes first, else the first by name. */
function isBefore({ gang: a }: GangMembers, { gang: b }: GangMembers): boolean {
  if (a.queue.scheduler !== b.queue.scheduler) return ranks[a.queue.scheduler] < ranks[b.queue.scheduler];
  if (a.namespace !== b.namespace) return a.namespace < b.namespace;
  return a.name === b.name ? a.uid < b.uid : a.name < b.name;
}

/** Keeps the first of several with the same key, whatever order they come in. */
function keepFirst(gangs: Map<string, GangMembers>, key: string, members: GangMembers): void {
  const known = gangs.get(key);
  if (known === undefined || isBefore(members, known)) gangs.set(key, members);
}

type ByNamespace = Map<string, Map<string, GangMembers>>;

interface GangIndex {
  readonly named: Readonly<Record<"kueue" | "kai" | "volcano", ByNamespace>>;
  readonly byOwner: ReadonlyMap<string, GangMembers>;
}

function indexGangs(gangs: readonly GangMembers[]): GangIndex {
  const named = { kueue: new Map(), kai: new Map(), volcano: new Map() } as const satisfies GangIndex["named"];
  const byOwner = new Map<string, GangMembers>();
  const byTopOwner = new Map<string, GangMembers>();
  for (const members of gangs) {
    const { gang } = members;
    const { scheduler } = gang.queue;
    if (scheduler === "none") continue;
    const byNamespace: ByNamespace = named[scheduler];
    const names = byNamespace.get(gang.namespace) ?? new Map<string, GangMembers>();
    byNamespace.set(gang.namespace, names);
    keepFirst(names, gang.name, members);
    const [nearest, ...further] = gang.ownerUids;
    if (nearest !== undefined) keepFirst(byOwner, nearest, members);
    for (const uid of further) keepFirst(byTopOwner, uid, members);
  }
  // An owner further up may have several: its own gang comes first.
  for (const [uid, members] of byTopOwner) if (!byOwner.has(uid)) byOwner.set(uid, members);
  return { named, byOwner };
}

function gangOf({ pod, owners }: QueuedPod, { named, byOwner }: GangIndex): GangMembers | undefined {
  const byPod = namedGang(pod, named) ?? (pod.owner === null ? undefined : byOwner.get(pod.owner.uid));
  if (byPod !== undefined) return byPod;
  for (const { uid } of owners) {
    const found = byOwner.get(uid);
    if (found !== undefined) return found;
  }
  return byOwner.get(pod.uid);
}

function namedGang({ namespace, annotations, labels }: Pod, named: GangIndex["named"]): GangMembers | undefined {
  const { kueueWorkload, kaiPodGroup, volcanoGroup, podGroup } = podAnnotations;
  return (
    lookUp(named.kueue, namespace, annotations[kueueWorkload] ?? labels[podLabels.kueuePodGroup]) ??
    lookUp(named.kai, namespace, annotations[kaiPodGroup]) ??
    lookUp(named.volcano, namespace, annotations[volcanoGroup] ?? annotations[podGroup])
  );
}

function lookUp(gangs: ByNamespace, namespace: string, name: string | undefined): GangMembers | undefined {
  return name === undefined || gangs.size === 0 ? undefined : gangs.get(namespace)?.get(name);
}
