import type { OwnerObject } from "../model/cluster.ts";
import type { OwnerRef, Pod } from "../model/pod.ts";
import { ownAnnotations, podLabels } from "../model/wellKnown.ts";

/** The top owner of a pod, as far as it can be read. */
export interface WorkloadName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** A pod's workload and the owners on the way to it that could be read, nearest first. */
export interface OwnerChain {
  readonly workload: WorkloadName;
  readonly owners: readonly OwnerObject[];
  /** The chain goes on beyond the part that is walked. */
  readonly isCut: boolean;
}

/** Chains are short; a longer one is a loop. */
const longestChain = 10;

/**
 * Walks the owner references of a pod upwards. Where the chain cannot be walked to its end, the job labels that
 * operators put on pods are in (they name the top owner); else the last owner that is named. A pod without an owner
 * is its own workload. An object of another namespace owns nothing here, whatever uid a reference names.
 */
export function ownerChainOf(pod: Pod, ownersByUid: ReadonlyMap<string, OwnerObject>): OwnerChain {
  const owners: OwnerObject[] = [];
  let next: OwnerRef | null = pod.owner;
  let last: OwnerRef | null = pod.owner;
  while (next !== null && owners.length < longestChain) {
    last = next;
    const object = ownersByUid.get(next.uid);
    if (object === undefined || !mayOwn(object, pod)) break;
    owners.push(object);
    next = object.owner;
  }
  const walked = next === null;
  const labelled = walked ? null : labelledWorkload(pod);
  const kindAndName = labelled ?? last ?? { kind: "Pod", name: pod.name };
  return {
    workload: { kind: kindAndName.kind, namespace: pod.namespace, name: kindAndName.name },
    owners,
    isCut: owners.length >= longestChain,
  };
}

/**
 * Owners belong to the namespace of what they own, or to none (kube-apiserver's garbage collector deletes objects with other
 * owners).
 */
export const mayOwn = (owner: Pick<OwnerObject, "namespace">, { namespace }: Pick<Pod, "namespace">): boolean =>
  owner.namespace === namespace || owner.namespace === "";

/** Whether two pods have the same owners. */
export function isSameChain(one: OwnerChain, other: OwnerChain): boolean {
  return (
    one.isCut === other.isCut &&
    one.workload.kind === other.workload.kind &&
    one.workload.name === other.workload.name &&
    one.workload.namespace === other.workload.namespace &&
    one.owners.length === other.owners.length &&
    one.owners.every((owner, i) => owner === other.owners[i])
  );
}

/** What the objects of queue systems may refer to: each owner on the way, and the one after the last that was read. */
export function ownerUidsOf(pod: Pod, { owners }: OwnerChain): readonly string[] {
  const uids = owners.map((owner) => owner.uid);
  const named = (owners.at(-1)?.owner ?? (owners.length === 0 ? pod.owner : null))?.uid;
  return named === undefined ? (uids.length > 0 ? uids : [pod.uid]) : [...uids, named];
}

/** The owners of a pod as they are named, from its controller upwards: one more than could be read, where there is one. */
export function ownerRefsOf(pod: Pod, { owners }: OwnerChain): readonly OwnerRef[] {
  if (pod.owner === null) return noOwners;
  const refs = [pod.owner];
  for (const { owner } of owners) if (owner !== null) refs.push(owner);
  return refs;
}

const noOwners: readonly OwnerRef[] = [];

const operatorKinds: Readonly<Record<string, string>> = {
  "pytorchjob-controller": "PyTorchJob",
  "tfjob-controller": "TFJob",
  "mpijob-controller": "MPIJob",
  "mpi-operator": "MPIJob",
  "xgboostjob-controller": "XGBoostJob",
  "paddlejob-controller": "PaddleJob",
  "jaxjob-controller": "JAXJob",
};

function labelledWorkload(pod: Pod): { readonly kind: string; readonly name: string } | null {
  const { labels } = pod;
  const ray = labels[podLabels.rayOriginatedFromName];
  if (ray !== undefined) return { kind: labels[podLabels.rayOriginatedFromKind] ?? "RayCluster", name: ray };
  const trainingJob = labels[podLabels.trainingJobName];
  if (trainingJob !== undefined) {
    const operator = labels[podLabels.trainingOperatorName] ?? "";
    return {
      kind: Object.hasOwn(operatorKinds, operator) ? (operatorKinds[operator] ?? "PyTorchJob") : "PyTorchJob",
      name: trainingJob,
    };
  }
  const llm = labels[podLabels.partOf] === "llminferenceservice" ? labels[podLabels.appName] : undefined;
  const named: readonly (readonly [kind: string, name: string | undefined])[] = [
    ["LLMInferenceService", llm],
    ["DynamoGraphDeployment", labels[podLabels.dynamoGraphDeployment]],
    ["LeaderWorkerSet", labels[podLabels.lwsName]],
    ["JobSet", labels[podLabels.jobSetName]],
    ["InferenceService", labels[podLabels.kserveInferenceService]],
    ["Service", labels[podLabels.knativeService]],
    ["SeldonDeployment", labels[podLabels.seldonDeployment]],
    ["RayCluster", labels[podLabels.rayCluster]],
    ["Job", labels[podLabels.volcanoJobName] ?? labels[podLabels.jobName] ?? labels[podLabels.jobNameLegacy]],
  ];
  for (const [kind, name] of named) if (name !== undefined && name !== "") return { kind, name };
  return null;
}

/** Longer texts and larger numbers are no valid progress. */
const maxChars = 32;
const maxUnits = 1e15;

const decimal = /^\d+(\.\d+)?(e\+?\d+)?$/i;

/** How many units of progress an annotation reports; `null` if it is absent, or anything but a decimal number from 0 on. */
export function parseProgressUnits(text: string | undefined): number | null {
  if (text === undefined || text.length > maxChars || !decimal.test(text)) return null;
  const units = Number(text);
  return units <= maxUnits ? units : null;
}

/** Units of progress of a pod's workload as its owners report them, the top one first, or else the pod itself. */
export function progressUnitsOf(pod: Pod, { owners }: OwnerChain): number | null {
  for (let i = owners.length - 1; i >= 0; i--) {
    const reported = parseProgressUnits(owners[i]?.annotations[ownAnnotations.progressUnits]);
    if (reported !== null) return reported;
  }
  return parseProgressUnits(pod.annotations[ownAnnotations.progressUnits]);
}

/** The larger one; `null` where neither is known. */
export function largerUnits(one: number | null, other: number | null): number | null {
  return one === null || (other !== null && other > one) ? other : one;
}
