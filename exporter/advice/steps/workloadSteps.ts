import type { PodView, WorkloadView } from "../../join/snapshot.ts";
import { nameWords } from "../../kernel/nameWords.ts";
import type { QueueObjectRef } from "../../model/disruption.ts";
import type { OwnerRef } from "../../model/pod.ts";
import type { AdviceStep, ApiRequest } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import { whyNotStop } from "./autoscaled.ts";
import { ownerSwitch } from "./ownerSwitch.ts";
import { isUid, pathOf } from "./resourceRef.ts";
import { allSteps, mergePatch, noSteps, type StepsFound, stepOf } from "./step.ts";

/** The switch of a workload, and how it is named. */
interface Switch {
  /** The name of what is switched: `Job ads/train`. */
  readonly subject: string;
  readonly stop: ApiRequest | null;
  readonly start: ApiRequest | null;
  readonly doing: string;
  readonly precondition: string;
  readonly again: string;
}

/**
 * Removes all GPUs from a workload until someone starts it again: by the switch of its queue, or else by suspending or scaling
 * its owner.
 */
export function stopWorkload(moment: AdviceMoment, index: number): StepsFound {
  const found = switchOf(moment, index);
  if (typeof found === "string") return noSteps(found);
  const { subject, stop, doing, precondition, again } = found;
  return allSteps([
    stepOf(stop, {
      title: `${doing} ${subject}`,
      precondition: sameObject(subject, precondition),
      waitFor: `Its pods are gone. It stays stopped until ${again}.`,
    }),
  ]);
}

/** Takes a workload off its nodes as a whole and lets it wait in its queue again: `active: false`, then `true`. */
export function requeueWorkload(moment: AdviceMoment, index: number): StepsFound {
  const found = switchOf(moment, index);
  if (typeof found === "string") return noSteps(found);
  const { subject, stop, start, doing, precondition } = found;
  if (start === null) return noSteps(`${subject} has no switch that would let it wait in its queue again as a whole`);
  return allSteps([
    stepOf(stop, {
      title: `${doing} ${subject}`,
      precondition: sameObject(subject, precondition),
      waitFor: "All its pods are gone.",
    }),
    stepOf(start, {
      title: `Let ${subject} wait in its queue again`,
      precondition: sameObject(subject, "all its pods are gone, else some of them would be kept"),
      waitFor: "It has been admitted and all its pods run again.",
    }),
  ]);
}

const sameObject = (subject: string, more: string): string =>
  `${subject} is still the same object (its uid), and ${more}.`;

/** The switch that stops a workload, or the reason why there is none. */
function switchOf({ analysis: { snapshot } }: AdviceMoment, index: number): Switch | string {
  const workload = snapshot.workloads[index];
  if (workload === undefined) return "the workload is not there any more";
  const kept = whyNotStop(snapshot, workload);
  if (kept !== null) return kept;
  const top = topOwner(workload, snapshot.pods);
  if (typeof top === "string") return top;
  const queueObject = workloadObject(workload, top, snapshot.queueObjects.kueueWorkloads);
  if (queueObject !== null) {
    const apiVersion = snapshot.queueObjects.kueueClusterQueues[0]?.revision?.apiVersion;
    return kueueSwitch(queueObject, apiVersion === "kueue.x-k8s.io/v1beta1" ? "v1beta1" : "v1beta2");
  }
  if (workload.job?.isSuspended === true) return `Job ${workload.namespace}/${top.name} is suspended already`;
  const allocated = workload.pods.filter((pod) => snapshot.pods[pod]?.status === "allocated").length;
  const facts = { pods: allocated, groups: groupsOf(workload, snapshot.pods), now: snapshot.at };
  const found = ownerSwitch(top, workload.namespace, facts);
  if (found === null) return `nothing is known that stops a ${top.kind} of ${top.apiVersion}`;
  return { ...found, subject: `${top.kind} ${workload.namespace}/${top.name}` };
}

/** The number of gangs to which the pods of a workload belong; `null` if one of them belongs to none. */
function groupsOf(workload: WorkloadView, pods: readonly PodView[]): number | null {
  const gangs = new Set(workload.pods.map((index) => pods[index]?.gang?.id ?? null));
  return gangs.size === 0 || gangs.has(null) ? null : gangs.size;
}

/** The object that a request must change: for a CronJob, the Job that it created. */
function topOwner(workload: WorkloadView, pods: readonly PodView[]): OwnerRef | string {
  const { owners, kind, namespace, name } = workload;
  const named = `${kind} ${namespace}/${name}`;
  const top = owners.at(-1);
  if (top === undefined) return `${named} has no owner that could be changed: a bare pod does not come back`;
  if (top.kind !== kind || top.name !== name) {
    return `the owners of ${named} could not be read up to itself, and whoever is above ${top.kind} ${top.name} may undo a change`;
  }
  const acting = top.kind === "CronJob" ? owners.at(-2) : top;
  if (acting === undefined) return `the Job of ${named} is not known`;
  const first = owners[0]?.uid;
  const ofOthers = (index: number): boolean => (pods[index]?.owner?.uid ?? first) !== first;
  if (acting !== top && workload.pods.some(ofOthers)) return `${named} runs more than one Job`;
  if (acting.kind === "Job" && acting.apiVersion.startsWith("batch/") && workload.job === null) {
    return `Job ${namespace}/${acting.name} could not be read, and whoever owns it may undo a change`;
  }
  const isMade = workload.pods.some((index) => pods[index]?.labels["pod-template-hash"] !== undefined);
  if (acting.kind === "ReplicaSet" && isMade)
    return `the Deployment of ReplicaSet ${namespace}/${acting.name} is not known`;
  return acting;
}

/** Kinds whose pods each have a Workload of their own in Kueue, instead of one for all of them. */
const podwise = new Set(["Pod", "ReplicaSet", "Deployment", "StatefulSet", "LeaderWorkerSet", "Notebook"]);

/** The Workload of Kueue that represents the whole workload. */
function workloadObject(
  { queueObject, ownerUids, owners }: WorkloadView,
  top: OwnerRef,
  workloads: readonly { readonly uid: string; readonly owner: OwnerRef | null }[],
): QueueObjectRef | null {
  if (queueObject?.scheduler !== "kueue" || queueObject.kind !== "Workload" || podwise.has(top.kind)) return null;
  const found = workloads.find(({ uid }) => uid === queueObject.uid);
  if (found === undefined) return queueObject;
  const { owner } = found;
  // The Workload of a group of pods has no controller.
  if (owner === null) return null;
  const isOurs = ownerUids.includes(owner.uid) || owners.some(({ uid }) => uid === owner.uid);
  return isOurs && !podwise.has(owner.kind) ? queueObject : null;
}

function kueueSwitch({ namespace, name, uid }: QueueObjectRef, version: string): Switch {
  const ref = { group: "kueue.x-k8s.io", version, resource: "workloads", namespace, name };
  const patch = (active: boolean): ApiRequest | null =>
    isUid(uid) ? mergePatch(ref, uid, { spec: { active } }) : null;
  return {
    subject: `Workload ${namespace}/${name}`,
    stop: patch(false),
    start: patch(true),
    doing: "Deactivate",
    precondition: "it is still admitted",
    again: "someone sets spec.active of the Workload to true",
  };
}

/**
 * The step that evicts a pod through the API. It is refused if a PodDisruptionBudget does not allow it, or if another pod has
 * this name by now.
 */
export function evictionStep(
  pod: { readonly namespace: string; readonly name: string; readonly uid: string | null },
  words: { readonly title: string; readonly waitFor: string | null },
): AdviceStep | null {
  const { namespace, name, uid } = pod;
  const path = pathOf({ group: "", version: "v1", resource: "pods", namespace, name }, "eviction");
  if (path === null || uid === null || !isUid(uid)) return null;
  const body = {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  return stepOf(
    { verb: "POST", path, contentType: "application/json", body },
    {
      ...words,
      precondition: `Pod ${namespace}/${name} is still the same one (its uid), and no PodDisruptionBudget forbids it.`,
    },
  );
}

/**
 * Joins steps so that all workloads leave before any of them is requeued, which happens only after the beneficiary has started.
 * Otherwise GPUs that become free first would go back to the same workloads.
 */
export function returnAfterStart(
  leave: readonly AdviceStep[],
  again: readonly AdviceStep[],
  started: readonly string[],
): readonly AdviceStep[] {
  const last = leave.at(-1);
  if (last === undefined) return again;
  const waitFor = `${last.waitFor ?? "It is done."} Then ${nameWords(started)} ${started.length === 1 ? "has" : "have"} started.`;
  return [...leave.slice(0, -1), { ...last, waitFor }, ...again];
}
