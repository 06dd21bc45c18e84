import { apiGroup } from "../model/apiGroup.ts";
import type { OwnerObject } from "../model/cluster.ts";
import type { OwnerRef, Pod } from "../model/pod.ts";
import { podAnnotations, podLabels } from "../model/wellKnown.ts";
import { type DeclaredGangs, declaredGangOf } from "./declaredGangs.ts";
import type { GangView } from "./snapshot.ts";
import { mayOwn, ownerChainOf } from "./workloadOf.ts";

/** The gang that a pod's own labels name. */
export interface GangMark {
  readonly id: string;
  readonly min: number;
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
  /** For the gang of a job: how many pods each of its controllers starts together; `null`: all pods that there are. */
  readonly controllers: Map<string, number | null>;
  readonly pods: Pod[];
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
  const set = ownerChainOf(pod, owners).owners.find(
    ({ kind, apiVersion, name }) =>
      kind === "LeaderWorkerSet" && apiGroup(apiVersion) === "leaderworkerset.x-k8s.io" && name === lws,
  );
  if (set === undefined) return null;
  const id = `${pod.namespace}/${lws}/${pod.labels[podLabels.lwsGroupIndex] ?? "0"}`;
  return { id, min: Math.min(size, set.gangPods ?? size) };
}

function count(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return null;
  const number = Number(text);
  return number >= 1 ? number : null;
}

/** Gangs by pod uid, with how many of their pods are bound or done, and since when they have been partly bound. */
export interface Gangs {
  readonly byPod: ReadonlyMap<string, GangView>;
  /** Since when each gang has been partial, to be remembered. */
  readonly since: ReadonlyMap<string, number>;
}

/** The evidence of gangs, besides the pods. */
export interface GangSources {
  readonly declared: DeclaredGangs;
  /** The owners of pods by uid. */
  readonly owners: ReadonlyMap<string, OwnerObject>;
}

/**
 * Finds the gangs among pods: by their own labels, else by the PodGroup or Workload that they name, else by the job whose
 * controller made them. A gang is partial while 0 < bound + succeeded < min and a missing member is pending or was bound
 * before, or was never created for half an hour at most; one whose missing members have failed does not wait for the
 * scheduler. In a gang that an object declares, a member with GPUs must be pending: one that seems not to be created may have
 * no GPUs at all.
 */
export function findGangs(
  pods: readonly Pod[],
  sources: GangSources,
  remembered: ReadonlyMap<string, number>,
  now: number,
  isFirstCycle: boolean,
): Gangs {
  const members = membersOf(pods, sources);
  const byPod = new Map<string, GangView>();
  const since = new Map<string, number>();
  for (const [id, gang] of members) {
    const min = minimumOf(gang);
    if (min < 2) continue;
    const counted = gang.pods.filter(
      (pod) => pod.phase === "Succeeded" || (pod.nodeName !== null && pod.phase !== "Failed"),
    );
    const bound = Math.max(counted.length, gang.running);
    const waiting = gang.pods.filter(isWaiting);
    const lacksMember = waiting.length > 0 || (!gang.isDeclared && gang.pods.length < min);
    const partial = counted.length > 0 && bound < min && lacksMember;
    const partialSince = partial
      ? (remembered.get(id) ?? Math.min(now, partialFrom(counted, waiting, isFirstCycle) ?? now))
      : null;
    if (partialSince !== null) since.set(id, partialSince);
    const waits = partialSince !== null && (waiting.length > 0 || mayStillCome(partialSince, counted, now));
    const view = { id, min, bound, partialSince: waits ? partialSince : null };
    for (const pod of gang.pods) byPod.set(pod.uid, view);
  }
  return { byPod, since };
}

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
    if (job !== null) gang.controllers.set(job.controller, job.pods);
    gang.pods.push(pod);
  }
  return members;
}

const noMembers = (isDeclared: boolean): Members => ({
  min: 0,
  running: 0,
  isDeclared,
  pods: [],
  controllers: new Map(),
});

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

/** The gang that a pod is in because a controller made it for a job whose pods start together. */
interface JobGang {
  /** Kind, namespace and name of the job: `PyTorchJob research/train`. */
  readonly id: string;
  /** The controller that created the pod: the gang of a JobSet has pods of several. */
  readonly controller: string;
  /** The fewest of that controller's pods that start together; `null`: all pods that there are. */
  readonly pods: number | null;
}

/** Controllers whose pods work together whatever numbers their specification has. */
const trainingKinds: ReadonlySet<string> = new Set([
  "PyTorchJob.kubeflow.org",
  "TFJob.kubeflow.org",
  "MPIJob.kubeflow.org",
  "JAXJob.kubeflow.org",
  "PaddleJob.kubeflow.org",
  "XGBoostJob.kubeflow.org",
]);

/** Owners of Jobs whose pods start together. */
const kindsOfJobs: ReadonlySet<string> = new Set(["JobSet.jobset.x-k8s.io", "TrainJob.trainer.kubeflow.org"]);

const kindOf = ({ kind, apiVersion }: Pick<OwnerRef, "kind" | "apiVersion">): string =>
  `${kind}.${apiGroup(apiVersion)}`;

/** Whether a pod may be in the gang of a job: by its controller, never by its labels alone. */
export function mayBeInJobGang({ owner, labels }: Pod): boolean {
  if (owner === null) return false;
  if (owner.kind === "Job") return labels[podLabels.jobIndex] !== undefined;
  return owner.kind === "RayCluster" || trainingKinds.has(kindOf(owner));
}

/**
 * The gang of a pod by the object whose controller made it; `null` if that makes none. A training job whose specification
 * cannot be read is a gang of all its pods. A Job is a gang only if it is known to work on all its indexes at once, and a
 * RayCluster only if it is known to be made for one RayJob.
 */
function jobGangOf(pod: Pod, owners: ReadonlyMap<string, OwnerObject>): JobGang | null {
  const { owner } = pod;
  if (owner === null || !mayBeInJobGang(pod)) return null;
  const found = owners.get(owner.uid);
  const object = found !== undefined && mayOwn(found, pod) ? found : undefined;
  const pods = object?.gangPods ?? null;
  const gang = ({ kind, name }: OwnerRef): JobGang => ({
    id: `${kind} ${pod.namespace}/${name}`,
    controller: owner.uid,
    pods,
  });
  const kind = kindOf(owner);
  if (trainingKinds.has(kind)) return gang(owner);
  if (kind === "RayCluster.ray.io") {
    const above = object?.owner ?? null;
    return above !== null && kindOf(above) === "RayJob.ray.io" ? gang(above) : null;
  }
  return kind === "Job.batch" && pods !== null ? gang(topOfJobs(pod, owner, owners)) : null;
}

/** The JobSet or TrainJob that a Job is part of, if it is known; else the Job itself. */
function topOfJobs(pod: Pod, job: OwnerRef, owners: ReadonlyMap<string, OwnerObject>): OwnerRef {
  const above = owners.get(job.uid)?.owner ?? null;
  if (above === null || !kindsOfJobs.has(kindOf(above))) return job;
  const object = owners.get(above.uid);
  const next = object !== undefined && mayOwn(object, pod) ? object.owner : null;
  return next !== null && kindsOfJobs.has(kindOf(next)) ? next : above;
}
