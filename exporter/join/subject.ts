import type { OwnerRule } from "../config/digestSchema.ts";
import type { TeamRule } from "../config/schema.ts";
import { apiGroup } from "../model/apiGroup.ts";
import type { Namespace, OwnerObject } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";
import { podAnnotations, podLabels } from "../model/wellKnown.ts";
import { checkpointsOf } from "./checkpoints.ts";
import type { SubjectIndex } from "./ownerIndex.ts";
import { ownerOf } from "./ownerOf.ts";
import { isSameQueue } from "./queues/queueFinders.ts";
import type { QueueRef } from "./queues/queueSystem.ts";
import type { PodView, WorkloadClass } from "./snapshot.ts";
import { teamOf } from "./teamOf.ts";
import { mayOwn, type OwnerChain, ownerChainOf, ownerRefsOf, progressUnitsOf } from "./workloadOf.ts";

/** Facts about a pod that its workload shares. */
export type SubjectFacts = Pick<PodView, "team" | "queue" | "workloadClass" | "classGuess" | "idleOptOut"> & {
  /** The queue, as a queue system reports it; `null` if none knows the pod's queue, although a label may name one. */
  readonly queueRef: QueueRef | null;
  /** A queue that the pod or its owners name and that nothing confirms: the pod is not in that queue. `null`: there is none. */
  readonly unconfirmedQueue: string | null;
};

/** A pod with what it belongs to, and the inputs from which that was found. */
export interface Subject {
  index: SubjectIndex;
  /** By what its queue and its checkpoint were found, as `SubjectIndex.evidenceIn` gives it. */
  evidence: object;
  readonly rules: readonly TeamRule[];
  readonly ownerRule: OwnerRule | null;
  /** Shared by the pods of a workload that are alike. */
  chain: OwnerChain;
  readonly namespaceObject: Namespace | undefined;
  facts: SubjectFacts;
  /** As in `WorkloadView`. */
  readonly owner: string | null;
  /** The last checkpoint that its queue object reports; may be in the future. */
  readonly queueCheckpoint: number | null;
  /** The checkpoints of the pod, its owners and its queue object, as `checkpointsOf` gives them. */
  readonly checkpoints: readonly number[];
  readonly createdAt: number | null;
  /** Progress, as its owners, or else the pod, report it. */
  readonly progressUnits: number | null;
  workload: OpenWorkload | null;
  view: PodView | null;
}

/** A workload whose pods are being gathered. */
export interface OpenWorkload {
  readonly key: string;
  /** The owners of the pod that came last. */
  chain: OwnerChain;
  facts: SubjectFacts;
  cycle: number;
  index: number;
  pods: number[];
}

/** Whether two pods have the same team, queue and class. */
export function isSameFacts(one: SubjectFacts, other: SubjectFacts): boolean {
  return (
    one.team === other.team &&
    one.queue === other.queue &&
    isSameQueue(one.queueRef, other.queueRef) &&
    one.unconfirmedQueue === other.unconfirmedQueue &&
    one.workloadClass === other.workloadClass &&
    one.classGuess === other.classGuess &&
    one.idleOptOut === other.idleOptOut
  );
}

/** Whether another index finds the same owners, namespace, queue and checkpoint. */
export function isFoundAgain(
  pod: Pod,
  { index: before, evidence, chain, namespaceObject, facts, queueCheckpoint }: Subject,
  index: SubjectIndex,
): boolean {
  if (before.namespaces !== index.namespaces && index.namespaces.get(pod.namespace) !== namespaceObject) return false;
  if (before.owners !== index.owners && !isChainOf(pod, chain, index)) return false;
  if (before.hasQueues === index.hasQueues && evidence === index.evidenceIn(pod.namespace)) return true;
  if (index.checkpointOf(pod, chain.owners) !== queueCheckpoint) return false;
  if (facts.unconfirmedQueue !== null && !index.hasQueues) return false;
  if (facts.queueRef === null && facts.queue !== null && index.hasQueues) return false;
  return isSameQueue(index.queueOf(pod, chain.owners), facts.queueRef);
}

/** Whether an index finds the same owners of a pod. */
function isChainOf(pod: Pod, { owners, isCut }: OwnerChain, index: SubjectIndex): boolean {
  let next = pod.owner;
  for (const owner of owners) {
    if (next === null || index.owners.get(next.uid) !== owner) return false;
    next = owner.owner;
  }
  const above = isCut || next === null ? undefined : index.owners.get(next.uid);
  return above === undefined || !mayOwn(above, pod);
}

/** Finds the subject of a pod in an index. */
export function findSubject(
  pod: Pod,
  index: SubjectIndex,
  rules: readonly TeamRule[],
  ownerRule: OwnerRule | null,
): Subject {
  const chain = ownerChainOf(pod, index.owners);
  const top = chain.owners.at(-1);
  const queueRef = index.queueOf(pod, chain.owners);
  const named = queueRef === null || pod.labels[podLabels.kueueClusterQueue] !== undefined;
  const claimed = named ? queueOf(pod, chain.owners) : null;
  const queue = queueRef?.name ?? (index.hasQueues ? null : claimed);
  const unconfirmedQueue = index.hasQueues && claimed !== queue ? claimed : null;
  const namespaceObject = index.namespaces.get(pod.namespace);
  const team = teamOf(rules, {
    namespace: pod.namespace,
    namespaceObject,
    queue: queueRef?.name ?? null,
    namedQueue: claimed,
    podLabels: pod.labels,
    workloadLabels: top?.labels ?? pod.labels,
  });
  const idleOptOut = pod.labels[podLabels.idleOptOut] === "true" || top?.labels[podLabels.idleOptOut] === "true";
  const queueCheckpoint = index.checkpointOf(pod, chain.owners);
  return {
    index,
    evidence: index.evidenceIn(pod.namespace),
    rules,
    ownerRule,
    chain,
    namespaceObject,
    facts: { team, queue, queueRef, unconfirmedQueue, ...workloadClassOf(pod, chain), idleOptOut },
    owner: ownerRule === null ? null : ownerOf(ownerRule, pod.namespace, pod.labels, top?.labels),
    queueCheckpoint,
    checkpoints: checkpointsOf([pod, ...chain.owners], queueCheckpoint),
    createdAt: top?.createdAt ?? pod.createdAt,
    progressUnits: progressUnitsOf(pod, chain),
    workload: null,
    view: null,
  };
}

/** A class and, if nothing declares it, the reason for the guess. */
interface FoundClass {
  readonly workloadClass: WorkloadClass;
  /** In words; absent where the class is known. */
  readonly classGuess?: string;
}

/** Kinds whose class is known, by name; by name and group where others use the name for something else. */
const classOfKind: ReadonlyMap<string, WorkloadClass> = new Map([
  ...of("serving", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "LeaderWorkerSet"),
  // Argo Rollouts, KServe, Knative, KubeRay, NVIDIA's NIM operator and Dynamo, Seldon Core 1 and 2.
  ...of(
    "serving",
    "Rollout",
    "InferenceService",
    "LLMInferenceService",
    "RayService",
    "NIMService",
    "SeldonDeployment",
  ),
  ...of("serving", "Service", "Configuration", "Revision", "DynamoGraphDeployment", "DynamoComponentDeployment"),
  ...of("serving", "Model.mlops.seldon.io", "Server.mlops.seldon.io"),
  ...of(
    "batch",
    "Pod",
    "Job",
    "CronJob",
    "ScaledJob",
    "JobSet",
    "TrainJob",
    "RayJob",
    "RayCluster",
    "SparkApplication",
  ),
  ...of("batch", "PyTorchJob", "TFJob", "MPIJob", "JAXJob", "PaddleJob", "XGBoostJob", "Workflow.argoproj.io"),
  ...of("batch", "Notebook", "TaskRun.tekton.dev", "PipelineRun.tekton.dev"),
]);

function of(workloadClass: WorkloadClass, ...kinds: readonly string[]): readonly (readonly [string, WorkloadClass])[] {
  return kinds.map((kind) => [kind, workloadClass] as const);
}

/** Kinds that only wrap other work, of whatever class. */
const wrapperKinds: ReadonlySet<string> = new Set(["AppWrapper"]);

/**
 * Batch or serving: by the label of the pod or of an owner, else by the highest owner whose kind is known, whether it was read
 * or only named. If an unknown kind is above a server, it probably serves; if no kind is known it counts as batch, unless it
 * waits for requests. In both cases the work may be quiet for as long as servers may. A job runs to its end whatever created
 * it.
 */
function workloadClassOf(pod: Pod, chain: OwnerChain): FoundClass {
  for (const object of [pod, ...chain.owners]) {
    const label = object.labels[podLabels.workloadClass];
    if (label === "batch" || label === "serving") return { workloadClass: label };
  }
  const kinds = kindsOf(pod, chain);
  const place = kinds.findIndex(({ known }) => known !== undefined);
  const found = kinds[place];
  const top = kinds.find(({ kind }) => !wrapperKinds.has(kind))?.kind ?? "";
  if (pod.isProbedServer === true && (found === undefined || found.kind === "Pod"))
    return { workloadClass: "serving", classGuess: "it has a port and a readiness probe" };
  if (found?.known === undefined) return { workloadClass: "batch", classGuess: `nothing is known of the kind ${top}` };
  const isSure = found.known === "batch" || kinds.slice(0, place).every(({ kind }) => wrapperKinds.has(kind));
  if (isSure) return { workloadClass: found.known };
  return { workloadClass: found.known, classGuess: `a ${found.kind} of a ${top} runs it` };
}

interface KindOfChain {
  readonly kind: string;
  readonly known: WorkloadClass | undefined;
}

/** The kinds of a chain from the top: the workload, which a label may name, then the owners that are named. */
function kindsOf(pod: Pod, chain: OwnerChain): readonly KindOfChain[] {
  const refs = ownerRefsOf(pod, chain).toReversed();
  const [top] = refs;
  const { kind, name } = chain.workload;
  const isNamed = top?.kind === kind && top.name === name;
  const kinds = isNamed ? refs : [{ kind, apiVersion: "" }, ...refs];
  return kinds.map((one) => ({
    kind: one.kind,
    known: classOfKind.get(one.kind) ?? classOfKind.get(`${one.kind}.${apiGroup(one.apiVersion)}`),
  }));
}

const queueLabels = [
  podLabels.kueueClusterQueue,
  podLabels.kueueLocalQueue,
  podLabels.kueueQueue,
  podLabels.kaiQueue,
  podLabels.runaiQueue,
  podLabels.volcanoQueue,
  podLabels.yunikornQueue,
] as const;

const queueAnnotations = [podAnnotations.volcanoQueue, podAnnotations.yunikornQueue] as const;

/**
 * The queue that a pod, or the first of its owners, names; `null` where none does. Anybody can write these names: they count
 * as a queue only in a cluster without known queues.
 */
function queueOf(pod: Pod, owners: readonly OwnerObject[]): string | null {
  for (const object of [pod, ...owners]) {
    for (const label of queueLabels) {
      const queue = object.labels[label];
      if (queue !== undefined && queue !== "") return queue;
    }
    for (const annotation of queueAnnotations) {
      const queue = object.annotations[annotation];
      if (queue !== undefined && queue !== "") return queue;
    }
  }
  return null;
}
