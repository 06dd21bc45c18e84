import type { Steps } from "../../kernel/steps.ts";
import type { Pod } from "../../model/pod.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import { podAnnotations, podLabels } from "../../model/wellKnown.ts";
import type { QueuedPod, QueueingInput } from "./queueingInput.ts";
import type { DeclaredGang } from "./queueSystem.ts";

/** A gang that an object of a queue system declares, with its pods by index. */
export interface GangMembers {
  readonly gang: DeclaredGang;
  readonly bound: readonly number[];
  readonly waiting: readonly number[];
}

/** While its pods are being found. */
interface OpenMembers {
  readonly gang: DeclaredGang;
  bound: number[];
  waiting: number[];
}

/** Of most gangs that wait nobody has created a pod. Nothing is ever added to it. */
const noMembers: number[] = [];

/** All declared gangs, and the waiting pods that none of them has. */
export interface MatchedGangs {
  readonly gangs: readonly GangMembers[];
  readonly rest: readonly number[];
}

const podsPerStep = 10_000;
const gangsPerStep = 10_000;

/** Finds the pods of each declared gang: by the name that the pod gives it, else by the nearest owner that it shares. */
export function* matchGangs(input: QueueingInput): Steps<MatchedGangs> {
  const gangs = input.systems
    .flatMap((system) => system.gangs)
    .map((gang): OpenMembers => ({ gang, bound: noMembers, waiting: noMembers }));
  if (gangs.length === 0) return { gangs, rest: waitingPods(input) };
  const rest: number[] = [];
  yield;
  const index = yield* indexGangs(gangs);
  for (const [i, { status }] of input.pods.entries()) {
    if (i % podsPerStep === podsPerStep - 1) yield;
    const queued = input.queued(i);
    const found = queued === null ? undefined : gangOf(queued, index);
    if (found !== undefined) addMember(found, status === "held" ? "bound" : "waiting", i);
    else if (status !== "held") rest.push(i);
  }
  return { gangs, rest };
}

function addMember(members: OpenMembers, kind: "bound" | "waiting", pod: number): void {
  if (members[kind] === noMembers) members[kind] = [pod];
  else members[kind].push(pod);
}

/** Bound pods come first. */
function waitingPods({ pods }: QueueingInput): readonly number[] {
  let first = pods.length;
  while (pods[first - 1]?.status === "pending") first -= 1;
  return Array.from({ length: pods.length - first }, (_, i) => first + i);
}

const ranks: Readonly<Record<QueueScheduler, number>> = { kueue: 0, kai: 1, volcano: 2, none: 3 };

/** Of two gangs that are called alike: that of the scheduler that comes first, else the first by name. */
function isBefore({ gang: a }: OpenMembers, { gang: b }: OpenMembers): boolean {
  if (a.queue.scheduler !== b.queue.scheduler) return ranks[a.queue.scheduler] < ranks[b.queue.scheduler];
  if (a.namespace !== b.namespace) return a.namespace < b.namespace;
  return a.name === b.name ? a.uid < b.uid : a.name < b.name;
}

/** Keeps the first of several with the same key, whatever order they come in. */
function keepFirst(gangs: Map<string, OpenMembers>, key: string, members: OpenMembers): void {
  const known = gangs.get(key);
  if (known === undefined || isBefore(members, known)) gangs.set(key, members);
}

type ByNamespace = Map<string, Map<string, OpenMembers>>;

interface GangIndex {
  /** Gangs of one scheduler by namespace and name; made when somebody is named. */
  readonly named: (scheduler: "kueue" | "kai" | "volcano") => ByNamespace;
  readonly byOwner: ReadonlyMap<string, OpenMembers>;
}

function* indexGangs(gangs: readonly OpenMembers[]): Steps<GangIndex> {
  const byOwner = new Map<string, OpenMembers>();
  const byTopOwner = new Map<string, OpenMembers>();
  for (const [place, members] of gangs.entries()) {
    if (place % gangsPerStep === gangsPerStep - 1) yield;
    const { ownerUids, queue } = members.gang;
    if (queue.scheduler === "none") continue;
    for (let i = 0; i < ownerUids.length; i++) keepFirst(i === 0 ? byOwner : byTopOwner, ownerUids[i] ?? "", members);
  }
  // An owner further up may have several: its own gang comes first.
  for (const [uid, members] of byTopOwner) if (!byOwner.has(uid)) byOwner.set(uid, members);
  const made = new Map<QueueScheduler, ByNamespace>();
  const named = (scheduler: QueueScheduler): ByNamespace => {
    const known = made.get(scheduler) ?? namedBy(scheduler, gangs);
    made.set(scheduler, known);
    return known;
  };
  return { named, byOwner };
}

function namedBy(scheduler: QueueScheduler, gangs: readonly OpenMembers[]): ByNamespace {
  const byNamespace: ByNamespace = new Map();
  for (const members of gangs) {
    const { gang } = members;
    if (gang.queue.scheduler !== scheduler) continue;
    const names = byNamespace.get(gang.namespace) ?? new Map<string, OpenMembers>();
    if (names.size === 0) byNamespace.set(gang.namespace, names);
    keepFirst(names, gang.name, members);
  }
  return byNamespace;
}

function gangOf({ pod, owners }: QueuedPod, { named, byOwner }: GangIndex): OpenMembers | undefined {
  const byPod = namedGang(pod, named) ?? (pod.owner === null ? undefined : byOwner.get(pod.owner.uid));
  if (byPod !== undefined) return byPod;
  for (const { uid } of owners) {
    const found = byOwner.get(uid);
    if (found !== undefined) return found;
  }
  return byOwner.get(pod.uid);
}

function namedGang({ namespace, annotations, labels }: Pod, named: GangIndex["named"]): OpenMembers | undefined {
  const { kueueWorkload, kaiPodGroup, volcanoGroup, podGroup } = podAnnotations;
  const find = (scheduler: "kueue" | "kai" | "volcano", name: string | undefined): OpenMembers | undefined =>
    name === undefined ? undefined : named(scheduler).get(namespace)?.get(name);
  return (
    find("kueue", annotations[kueueWorkload] ?? labels[podLabels.kueuePodGroup]) ??
    find("kai", annotations[kaiPodGroup]) ??
    find("volcano", annotations[volcanoGroup] ?? annotations[podGroup])
  );
}
