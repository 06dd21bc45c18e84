import { apiGroup } from "../model/apiGroup.ts";
import type { OwnerObject } from "../model/cluster.ts";
import type { PlainGangMember, Pod } from "../model/pod.ts";
import { podAnnotations, podLabels } from "../model/wellKnown.ts";
import { type DeclaredGangs, type DeclaredMinimum, declaredGangOf, nativeGangId } from "./declaredGangs.ts";
import type { GangView } from "./gangView.ts";
import { jobGangOf } from "./jobGangs.ts";
import { hasLostMember, type KnownOfGang, mostMembers, newestMember } from "./lostMembers.ts";
import type { Memory } from "./memory.ts";
import { ownerChainOf } from "./workloadOf.ts";

/** The gang that a pod's own labels name. */
export interface GangMark {
  readonly id: string;
  readonly min: number;
  /** Uid of the pod of the same gang that it goes with: a leader that is gone takes its workers along. Absent: none. */
  readonly leader?: string;
}

/**
 * A member that was never created counts as missing for this long; then the others wait for nothing. Design section 4,
 * `gang_wait`.
 */
const neverCreatedSeconds = 1800;
/** A gang that is partly bound later than this after its last member was bound was whole before: it lost a member. */
const bindingSeconds = 300;

/** The members of one gang that are among the pods. */
interface Members {
  min: number;
  /** Members that run according to the object that declares the gang. */
  running: number;
  /** Whether an object declares the gang, so that members without GPUs, which are not among the pods, count for its minimum. */
  readonly isDeclared: boolean;
  /** What Kubernetes itself reports about a native gang; `null` of others. */
  native: DeclaredMinimum["native"] | null;
  /** For the gang of a job: how many pods each of its controllers starts together; `null`: all pods that there are. */
  readonly controllers: Map<string, number | null>;
  readonly pods: Pod[];
  /** The leaders of pods, by their uids. */
  readonly leaders: Map<string, string>;
}

/** Whether the labels of a pod name a gang: a Kueue pod group or a LeaderWorkerSet. */
export function namesOwnGang({ labels }: Pod): boolean {
  return labels[podLabels.kueuePodGroup] !== undefined || labels[podLabels.lwsName] !== undefined;
}

/**
 * The gang that the labels of a pod name: a Kueue pod group (label and total count), a group of a LeaderWorkerSet (label and
 * size). Anybody can write them: the first counts with the Workload that Kueue made of the group, the second with the
 * LeaderWorkerSet that controls the pod, and neither is larger than these say. `null` without one.
 */
function gangMark(pod: Pod, { declared, owners }: GangSources): GangMark | null {
  const group = pod.labels[podLabels.kueuePodGroup];
  const total = count(pod.annotations[podAnnotations.kueuePodGroupTotalCount]);
  if (group !== undefined && total !== null) {
    const made = declared.podGroups.get(pod.namespace)?.get(group);
    return made === undefined ? null : { id: `${pod.namespace}/${group}`, min: Math.min(total, made.min) };
  }
  const lws = pod.labels[podLabels.lwsName];
  const size = count(pod.annotations[podAnnotations.lwsSize]);
  if (lws === undefined || size === null) return null;
  const chain = ownerChainOf(pod, owners).owners;
  const set = chain.find(
    ({ kind, apiVersion, name }) =>
      kind === "LeaderWorkerSet" && apiGroup(apiVersion) === "leaderworkerset.x-k8s.io" && name === lws,
  );
  if (set === undefined) return null;
  const id = `${pod.namespace}/${lws}/${pod.labels[podLabels.lwsGroupIndex] ?? "0"}`;
  // A leader without GPUs is not among the pods.
  const leader = set.gangPods === size ? chain.find(({ kind }) => kind === "Pod")?.uid : undefined;
  return { id, min: Math.min(size, set.gangPods ?? size), ...(leader === undefined ? {} : { leader }) };
}

function count(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return null;
  const number = Number(text);
  return number >= 1 ? number : null;
}

/** What a cycle hands to the next about gangs. */
export type GangMemory = Pick<Memory, "gangSince" | "gangMost" | "gangNewest">;

/** Gangs by pod uid, with how many of their pods are bound or done, and since when they have been partly bound. */
export interface Gangs {
  readonly byPod: ReadonlyMap<string, GangView>;
  readonly memory: GangMemory;
}

/** The evidence of gangs, besides the pods. */
export interface GangSources {
  readonly declared: DeclaredGangs;
  /** The owners of pods by uid. */
  readonly owners: ReadonlyMap<string, OwnerObject>;
  /** Members of native gangs that have no GPUs, and are bound or done. */
  readonly plainMembers?: readonly PlainGangMember[];
}

/**
 * Finds the gangs among pods: by their own labels, else by the PodGroup or Workload that they name, else by the job whose
 * controller made them. A gang is partial while 0 < bound + succeeded < min and a missing member is pending or was bound
 * before, or was never created for half an hour at most; one whose missing members have failed does not wait for the
 * scheduler, unless it was seen whole: a gang that has lost a member is partial, whatever becomes of that. In a gang that an
 * object declares, a member with GPUs must be pending, or lost: one that seems not to be created may have no GPUs at all.
 */
export function findGangs(
  pods: readonly Pod[],
  sources: GangSources,
  remembered: GangMemory,
  now: number,
  isFirstCycle: boolean,
): Gangs {
  const byPod = new Map<string, GangView>();
  const gangSince = new Map<string, number>();
  const gangMost = new Map<string, number>();
  const gangNewest = new Map<string, number>();
  const plain = plainByGang(sources);
  for (const [id, gang] of membersOf(pods, sources)) {
    const min = minimumOf(gang);
    if (min < 2) continue;
    const found = judge(gang, min, plain.get(id) ?? 0, {
      since: remembered.gangSince.get(id),
      most: remembered.gangMost.get(id),
      newest: remembered.gangNewest.get(id),
      now,
      isFirstCycle,
    });
    if (found.partialSince !== null) gangSince.set(id, found.partialSince);
    if (found.most !== null) gangMost.set(id, found.most);
    if (found.newest !== null) gangNewest.set(id, found.newest);
    const view = viewOf(id, gang, min, found);
    for (const pod of gang.pods) byPod.set(pod.uid, view);
  }
  return { byPod, memory: { gangSince, gangMost, gangNewest } };
}

/** What is known of one gang from the cycles before, and when it is judged. */
interface Before extends KnownOfGang {
  readonly since: number | undefined;
  readonly now: number;
  readonly isFirstCycle: boolean;
}

/** What one cycle finds of a gang. */
interface Judged {
  readonly bound: number;
  /** Since when it has been partial; `null`: it is not. */
  readonly partialSince: number | null;
  /** Whether it is, and anything will come of it: a member waits, may still be created, or was lost. */
  readonly waits: boolean;
  readonly isLoss: boolean;
  /** To be remembered (`mostMembers`, `newestMember`). */
  readonly most: number | null;
  readonly newest: number | null;
}

/** `plain`: members without GPUs that are bound or done. The minimum of a native gang counts them as it does the others. */
function judge(gang: Members, min: number, plain: number, before: Before): Judged {
  const { since, now, isFirstCycle } = before;
  const { pods, native } = gang;
  const counted = pods.filter((pod) => pod.phase === "Succeeded" || (pod.nodeName !== null && pod.phase !== "Failed"));
  const bound = Math.max(counted.length + plain, gang.running);
  const waiting = pods.filter(isWaiting);
  const isWaited = waiting.length > 0;
  const seen = { pods, bound, min, isWaiting: isWaited, wasScheduled: native?.wasScheduled ?? false };
  const staying = remaining(gang);
  // While one group takes the place of another, members of both are there.
  const newest = staying.length < pods.length ? (before.newest ?? null) : newestMember(seen, before);
  const found = { bound, most: mostMembers(seen, before.most), newest };
  if (counted.length === 0 || bound >= min || native?.isEnding === true)
    return { ...found, partialSince: null, waits: false, isLoss: false };
  // The size of a job is read from its owner, now and then: after a change it may be old.
  const isLoss = (gang.controllers.size === 0 || isWaited) && hasLostMember({ ...seen, pods: staying }, before);
  if (!isLoss && !isWaited && (gang.isDeclared || pods.length >= min))
    return { ...found, partialSince: null, waits: false, isLoss };
  const partialSince = since ?? Math.min(now, partialFrom(counted, waiting, isFirstCycle) ?? now);
  return { ...found, partialSince, waits: isLoss || isWaited || mayStillCome(partialSince, counted, now), isLoss };
}

function plainByGang({ plainMembers = [] }: GangSources): ReadonlyMap<string, number> {
  const plain = new Map<string, number>();
  for (const { namespace, group } of plainMembers) {
    const id = nativeGangId(namespace, group);
    plain.set(id, (plain.get(id) ?? 0) + 1);
  }
  return plain;
}

function viewOf(id: string, gang: Members, min: number, { bound, partialSince, waits, isLoss }: Judged): GangView {
  const controller = gang.native?.controller ?? null;
  return {
    id,
    min,
    bound,
    partialSince: waits ? partialSince : null,
    ...(isLoss ? { hasLostMember: true } : {}),
    ...(controller === null ? {} : { controller: `${controller.kind} ${namespaceOf(gang)}/${controller.name}` }),
  };
}

/** All members are in one. */
const namespaceOf = ({ pods }: Members): string => pods[0]?.namespace ?? "";

/**
 * For a gang without a waiting member: whether one that was bound before is being recreated, or only a short time has passed.
 */
function mayStillCome(partialSince: number, bound: readonly Pod[], now: number): boolean {
  let last = Number.NEGATIVE_INFINITY;
  for (const { scheduledAt } of bound) last = Math.max(last, scheduledAt ?? Number.NEGATIVE_INFINITY);
  const lostMember = last > Number.NEGATIVE_INFINITY && partialSince - last > bindingSeconds;
  return lostMember || now - partialSince <= neverCreatedSeconds;
}

function membersOf(pods: readonly Pod[], sources: GangSources): ReadonlyMap<string, Members> {
  const { declared, owners } = sources;
  const members = new Map<string, Members>();
  for (const pod of pods) {
    const own = namesOwnGang(pod) ? gangMark(pod, sources) : null;
    const named = own === null ? declaredGangOf(pod, declared, owners) : null;
    const mark = own ?? named;
    const job = mark === null ? jobGangOf(pod, owners) : null;
    const id = mark?.id ?? job?.id;
    if (id === undefined) continue;
    const gang = members.get(id) ?? noMembers(own === null);
    members.set(id, gang);
    // Members that disagree: the largest, whatever their order.
    gang.min = Math.max(gang.min, mark?.min ?? 0);
    gang.running = Math.max(gang.running, named?.running ?? 0);
    gang.native ??= named?.native ?? null;
    if (job !== null) gang.controllers.set(job.controller, job.pods);
    gang.pods.push(pod);
    if (own?.leader !== undefined) gang.leaders.set(pod.uid, own.leader);
  }
  return members;
}

const noMembers = (isDeclared: boolean): Members => ({
  min: 0,
  running: 0,
  isDeclared,
  native: null,
  pods: [],
  controllers: new Map(),
  leaders: new Map(),
});

/** The pods of a gang without those whose leader is gone, or is being deleted: Kubernetes removes them, too. */
function remaining({ pods, leaders }: Members): readonly Pod[] {
  if (leaders.size === 0) return pods;
  const there = new Set(pods.flatMap(({ uid, isEnding }) => (isEnding === undefined ? [uid] : [])));
  return pods.filter(({ uid }) => there.has(leaders.get(uid) ?? uid));
}

/** The fewest members with which a gang runs: as declared, else what the controllers of a job start together. */
function minimumOf({ min, controllers, pods }: Members): number {
  if (controllers.size === 0) return min;
  let sum = 0;
  for (const [controller, size] of controllers) {
    sum += size ?? pods.filter(({ owner, phase }) => owner?.uid === controller && phase !== "Failed").length;
  }
  return sum;
}

const isWaiting = (pod: Pod): boolean => pod.nodeName === null && pod.phase !== "Succeeded" && pod.phase !== "Failed";

/**
 * Since when a gang has been partly bound, by its objects alone: it was not before its first member was bound, nor before its
 * oldest waiting member was created (a replacement of one that was lost). Without a waiting member: since the last one was
 * bound, if nothing is remembered of before; `null`, which means now, in a process that saw the gang whole.
 */
function partialFrom(bound: readonly Pod[], waiting: readonly Pod[], isFirstCycle: boolean): number | null {
  const boundAt = bound.map((pod) => pod.scheduledAt).filter((at) => at !== null);
  const createdAt = waiting.map((pod) => pod.createdAt).filter((at) => at !== null);
  if (boundAt.length === 0) return null;
  if (waiting.length === 0) return isFirstCycle ? boundAt.reduce((a, b) => Math.max(a, b)) : null;
  if (createdAt.length === 0) return null;
  return Math.max(
    boundAt.reduce((a, b) => Math.min(a, b)),
    createdAt.reduce((a, b) => Math.min(a, b)),
  );
}
