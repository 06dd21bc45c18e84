import type { OwnerRule } from "../config/digestSchema.ts";
import type { TeamRule } from "../config/schema.ts";
import type { QueueObjectRef } from "../model/disruption.ts";
import type { Pod } from "../model/pod.ts";
import { lastCheckpoint } from "./checkpoints.ts";
import type { GangView } from "./gangView.ts";
import type { SubjectIndex } from "./ownerIndex.ts";
import { controllingJob, disruptionOf, moreEndangered } from "./podDisruption.ts";
import { forgetNeeds, type NeedsCache, needsOf } from "./podNeeds.ts";
import type { ImpossibleDemand } from "./queues/impossibleDemand.ts";
import type { QueueRef } from "./queues/queueSystem.ts";
import type { PodView, WorkloadView } from "./snapshot.ts";
import { findSubject, isFoundAgain, isSameFacts, type OpenWorkload, type Subject } from "./subject.ts";
import { isSameChain, largerUnits, ownerRefsOf, ownerUidsOf } from "./workloadOf.ts";

/** The value for a pod without a priority class. */
export const noPriorityClass = "none";

/** Whether a pod is bound and has not ended: it holds what it was given, whether it uses it or not. */
export function isHolding(pod: Pod): boolean {
  return pod.nodeName !== null && pod.phase !== "Succeeded" && pod.phase !== "Failed";
}

/** Whether a pod is neither bound nor ended: it waits. */
export function isPending(pod: Pod): boolean {
  return pod.nodeName === null && pod.phase !== "Succeeded" && pod.phase !== "Failed";
}

/** Pods and their workloads, by index. */
export interface Subjects {
  readonly pods: readonly PodView[];
  readonly workloads: readonly GatheredView[];
  /** The queue of each pod, as a finder of a queue system reports it; `null` if none knows it. */
  readonly queueRefs: readonly (QueueRef | null)[];
}

/** A pod that a Snapshot shows. */
export interface SubjectPod {
  readonly pod: Pod;
  /** Whether only telemetry names it: then it has no uid. */
  readonly named: boolean;
  /** Physical GPUs that it asks for; `null` when they cannot be known. */
  readonly gpus: number | null;
  /** The subject that was last found; stays valid for the same pod. */
  subject: Subject | null;
}

/** The input for the views of pods. */
export interface SubjectInput {
  readonly index: SubjectIndex;
  readonly pods: readonly SubjectPod[];
  readonly rules: readonly TeamRule[];
  readonly ownerRule: OwnerRule | null;
  /** The gangs of pods, by uid of the pod. */
  readonly gangs: ReadonlyMap<string, GangView>;
  readonly pendingSince: (pod: Pod) => number | null;
  /** Why a waiting pod can never run; `null`: it may run. */
  readonly impossible: (pod: Pod) => ImpossibleDemand | null;
  /** Seconds since the epoch: a later checkpoint does not count yet. */
  readonly at: number;
}

/** What earlier cycles found about waiting pods, and about workloads. */
export interface SubjectCache {
  readonly waiting: WeakMap<Pod, Subject>;
  readonly workloads: Map<string, OpenWorkload>;
  readonly needs: NeedsCache;
  cycle: number;
}

/** A view that is complete only after all pods, and queues, have been examined. */
export type GatheredView = WorkloadView & {
  owner: string | null;
  progressUnits: number | null;
  job: WorkloadView["job"];
  queueObject: QueueObjectRef | null;
};

/** Ties every pod to its workload, team, queue and priority. An unchanged view is the object of the last cycle. */
export function viewSubjects(input: SubjectInput, cache: SubjectCache): Subjects {
  cache.cycle += 1;
  const pods: PodView[] = [];
  const workloads: GatheredView[] = [];
  const queueRefs: (QueueRef | null)[] = [];
  for (let i = 0; i < input.pods.length; i++) {
    const entry = input.pods[i];
    if (entry === undefined) continue;
    const { pod, named, gpus } = entry;
    const subject = subjectOf(entry, input, cache.waiting);
    const gang = input.gangs.size === 0 ? null : (input.gangs.get(pod.uid) ?? null);
    const workload = workloadOf(subject, cache);
    if (workload.cycle !== cache.cycle) {
      workload.cycle = cache.cycle;
      workload.index = workloads.length;
      workload.pods = [];
      workloads.push(workloadView(pod, subject, gang, workload.pods));
    } else addTo(workloads[workload.index], subject);
    workload.pods.push(i);
    const pendingSince = pod.nodeName === null ? input.pendingSince(pod) : null;
    const { view: last } = subject;
    const checkpointedAt = lastCheckpoint(subject.checkpoints, input.at);
    const impossible = pod.nodeName === null ? input.impossible(pod) : null;
    const now = { named, gpus, gang, pendingSince, impossible, checkpointedAt, workload: workload.index };
    const view = last !== null && saysSame(last, now) ? last : podView(pod, subject, now, cache.needs);
    subject.view = view;
    pods.push(view);
    queueRefs.push(subject.facts.queueRef);
  }
  forgetWorkloads(cache, workloads.length);
  forgetNeeds(cache.needs, pods);
  return { pods, workloads, queueRefs };
}

/** What may differ between the pods of a workload. */
function addTo(view: GatheredView | undefined, { chain, progressUnits, owner }: Subject): void {
  if (view === undefined) return;
  if (view.owner !== owner) view.owner = null;
  if (progressUnits !== null) view.progressUnits = largerUnits(view.progressUnits, progressUnits);
  if (view.job !== null) view.job = moreEndangered(view.job, controllingJob(chain));
}

/** Workloads that are gone are searched for only when there are many. */
function forgetWorkloads({ workloads, cycle: now }: SubjectCache, alive: number): void {
  if (workloads.size <= 2 * alive + 1000) return;
  for (const [key, { cycle }] of workloads) if (cycle !== now) workloads.delete(key);
}

/** A workload that reappears in this cycle is looked up once, since it may have been forgotten. */
function workloadOf(subject: Subject, { workloads, cycle }: SubjectCache): OpenWorkload {
  if (subject.workload?.cycle === cycle) return subject.workload;
  const key = subject.workload?.key ?? workloadKey(subject);
  const { chain, facts } = subject;
  const known = workloads.get(key) ?? { key, chain, facts, cycle: 0, index: 0, pods: [] };
  workloads.set(key, known);
  if (subject.workload === null) shareParts(subject, known);
  subject.workload = known;
  return known;
}

/** Most pods of a workload have the same owners, queue and class, which they share as one object. */
function shareParts(subject: Subject, workload: OpenWorkload): void {
  const { chain, facts } = subject;
  if (isSameChain(workload.chain, chain)) subject.chain = workload.chain;
  else workload.chain = chain;
  if (isSameFacts(workload.facts, facts)) subject.facts = workload.facts;
  else workload.facts = facts;
}

function workloadKey({ chain, facts }: Subject): string {
  const { kind, namespace, name } = chain.workload;
  return `${kind}/${namespace}/${name}/${chain.owners.at(-1)?.uid ?? ""}/${facts.team}`;
}

function subjectOf(
  entry: SubjectPod,
  { index, rules, ownerRule }: SubjectInput,
  waiting: SubjectCache["waiting"],
): Subject {
  const { pod } = entry;
  const known = entry.subject ?? (pod.nodeName === null ? waiting.get(pod) : undefined);
  const isRuledAlike = known?.rules === rules && known.ownerRule === ownerRule;
  if (known !== undefined && isRuledAlike && (known.index === index || isFoundAgain(pod, known, index))) {
    if (known.index !== index) known.evidence = index.evidenceIn(pod.namespace);
    known.index = index;
    entry.subject = known;
    return known;
  }
  const subject = findSubject(pod, index, rules, ownerRule);
  entry.subject = subject;
  if (pod.nodeName === null) waiting.set(pod, subject);
  return subject;
}

function workloadView(pod: Pod, subject: Subject, gang: GangView | null, pods: readonly number[]): GatheredView {
  const { kind, namespace, name } = subject.chain.workload;
  const { team, queue, queueRef, workloadClass, classGuess } = subject.facts;
  return {
    kind,
    namespace,
    name,
    team,
    owner: subject.owner,
    queue,
    localQueue: queueRef?.localQueue ?? null,
    priorityClass: pod.priorityClassName ?? noPriorityClass,
    priority: pod.priority,
    workloadClass,
    ...(classGuess === undefined ? {} : { classGuess }),
    createdAt: subject.createdAt,
    gang,
    ownerUids: ownerUidsOf(pod, subject.chain),
    progressUnits: subject.progressUnits,
    owners: ownerRefsOf(pod, subject.chain),
    job: controllingJob(subject.chain),
    queueObject: null,
    pods,
  };
}

/** The parts of a view that depend on more than its subject. */
type ViewOfNow = Pick<PodView, "gpus" | "gang" | "pendingSince" | "checkpointedAt" | "workload"> & {
  readonly named: boolean;
  readonly impossible: ImpossibleDemand | null;
};

function saysSame(
  view: PodView,
  { named, gpus, gang, pendingSince, impossible, checkpointedAt, workload }: ViewOfNow,
): boolean {
  return (
    view.workload === workload &&
    view.gpus === gpus &&
    view.pendingSince === pendingSince &&
    view.checkpointedAt === checkpointedAt &&
    view.impossible?.never === impossible?.never &&
    view.impossible?.reason === impossible?.reason &&
    (view.uid === null) === named &&
    isSameGang(view.gang, gang)
  );
}

function podView(pod: Pod, { chain, facts, view }: Subject, now: ViewOfNow, needs: NeedsCache): PodView {
  return {
    uid: now.named ? null : pod.uid,
    namespace: pod.namespace,
    name: pod.name,
    node: pod.nodeName,
    status: pod.nodeName === null ? "pending" : "allocated",
    gpus: now.gpus,
    team: facts.team,
    queue: facts.queue,
    priorityClass: pod.priorityClassName ?? noPriorityClass,
    priority: pod.priority,
    workload: now.workload,
    workloadClass: facts.workloadClass,
    ...(facts.classGuess === undefined ? {} : { classGuess: facts.classGuess }),
    idleOptOut: facts.idleOptOut,
    starting: !pod.allContainersStarted,
    boundAt: pod.scheduledAt,
    createdAt: pod.createdAt,
    pendingSince: now.pendingSince,
    ...(now.impossible === null ? {} : { impossible: now.impossible }),
    gang: now.gang,
    needs: now.named ? null : (view?.needs ?? needsOf(pod, needs)),
    labels: pod.labels,
    ...(pod.labelsLeftOut === undefined ? {} : { labelsLeftOut: pod.labelsLeftOut }),
    owner: pod.owner,
    disruption: disruptionOf(pod, chain.owners),
    ...(pod.placement === undefined ? {} : { placement: pod.placement }),
    ...(pod.volumeClaims === undefined ? {} : { volumeClaims: pod.volumeClaims }),
    checkpointedAt: now.checkpointedAt,
  };
}

function isSameGang(one: GangView | null, other: GangView | null): boolean {
  if (one === other) return true;
  if (one === null || other === null) return false;
  const { id, min, bound, partialSince, hasLostMember, controller } = one;
  return (
    id === other.id &&
    min === other.min &&
    bound === other.bound &&
    partialSince === other.partialSince &&
    hasLostMember === other.hasLostMember &&
    controller === other.controller
  );
}
