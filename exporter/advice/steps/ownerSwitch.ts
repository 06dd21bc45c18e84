import { isoTime } from "../../kernel/isoTime.ts";
import type { OwnerRef } from "../../model/pod.ts";
import type { ApiRequest, JsonValue } from "../../model/recommendation.ts";
import { groupVersion, isObjectName, isUid, type ResourceRef } from "./resourceRef.ts";
import { jsonPatch, mergePatch, volcanoCommand } from "./step.ts";

/** How the pods of an owner are removed, and how they come back. */
export interface OwnerSwitch {
  readonly stop: ApiRequest | null;
  /** What the request does, as the beginning of a title: `Suspend`. */
  readonly doing: string;
  /** A precondition of the request, besides the one that the object is still the same. */
  readonly precondition: string;
  /** How a person starts the work again, as the end of a sentence. */
  readonly again: string;
  /** The request that starts it again as it was before; `null` if only its users know how to do that. */
  readonly start: ApiRequest | null;
}

/** The facts about an owner, besides its name, that its requests depend on. */
export interface SwitchFacts {
  /** The number of its pods with GPUs. */
  readonly pods: number;
  /** The number of groups of pods that it creates, where each group is a gang; `null` if it is not known. */
  readonly groups: number | null;
  /** The present time, seconds since the epoch. */
  readonly now: number;
}

type Make = (owner: OwnerRef, ref: ResourceRef, facts: SwitchFacts) => OwnerSwitch;

interface Known {
  readonly resource: string;
  readonly make: Make;
}

/** A switch by a field of the spec that removes all pods while it is true. */
const suspended =
  (...at: readonly string[]): Make =>
  ({ uid }, ref) => {
    const patch = (to: boolean): ApiRequest | null => mergePatch(ref, uid, nested(["spec", ...at], to));
    const field = ["spec", ...at].join(".");
    return {
      stop: patch(true),
      start: patch(false),
      doing: "Suspend",
      precondition: "it has not finished",
      again: `someone sets ${field} to false`,
    };
  };

function nested(at: readonly string[], value: JsonValue): { readonly [key: string]: JsonValue } {
  const [first = "", ...rest] = at;
  return { [first]: rest.length === 0 ? value : nested(rest, value) };
}

/** KubeRay considers the suspension of any other RayJob an invalid spec (ValidateRayJobSpec). */
const rayJob: Make = ({ uid }, ref) => {
  const patch = (to: boolean): ApiRequest | null =>
    jsonPatch(ref, [
      { op: "test", at: ["metadata", "uid"], value: uid },
      { op: "test", at: ["spec", "shutdownAfterJobFinishes"], value: true },
      { op: "add", at: ["spec", "suspend"], value: to },
    ]);
  return {
    stop: patch(true),
    start: patch(false),
    doing: "Suspend",
    precondition:
      "it has not finished, and its spec.shutdownAfterJobFinishes is true: KubeRay suspends no other RayJob",
    again: "someone sets spec.suspend to false",
  };
};

const scaled: Make = ({ uid }, ref, { pods }) => ({
  stop: mergePatch(ref, uid, { spec: { replicas: 0 } }),
  start: null,
  doing: "Scale to zero",
  precondition: "nothing else sets its spec.replicas (an autoscaler of another kind, a deployment pipeline)",
  again: `someone sets spec.replicas to what it was (it had ${pods} ${pods === 1 ? "pod" : "pods"} with GPUs)`,
});

/**
 * The replicas of a LeaderWorkerSet are its groups: the number that it must have again is known, and the server compares it.
 */
const groupSet: Make = (owner, ref, facts) => {
  const { groups } = facts;
  if (groups === null) return scaled(owner, ref, facts);
  const patch = (from: number, to: number): ApiRequest | null =>
    jsonPatch(ref, [
      { op: "test", at: ["metadata", "uid"], value: owner.uid },
      { op: "test", at: ["spec", "replicas"], value: from },
      { op: "replace", at: ["spec", "replicas"], value: to },
    ]);
  return {
    stop: patch(groups, 0),
    start: patch(0, groups),
    doing: "Scale to zero",
    precondition: `its spec.replicas is ${groups}, and nothing else sets it (an autoscaler, a deployment pipeline)`,
    again: `someone sets spec.replicas to ${groups}, as it was`,
  };
};

/** The notebook controller only checks whether the annotation exists. */
const notebook: Make = ({ uid }, ref, { now }) => ({
  stop: mergePatch(ref, uid, { metadata: { annotations: { "kubeflow-resource-stopped": isoTime(now) } } }),
  start: null,
  doing: "Stop",
  precondition: "nobody works in it: what is only in its memory is lost",
  again: "its user starts it in the dashboard, or someone takes the annotation kubeflow-resource-stopped away",
});

const inferenceService: Make = ({ uid }, ref) => ({
  stop: mergePatch(ref, uid, { metadata: { annotations: { "serving.kserve.io/stop": "true" } } }),
  start: null,
  doing: "Stop",
  precondition: "its KServe knows the annotation serving.kserve.io/stop: older ones ignore it and its pods stay",
  again: "someone takes the annotation serving.kserve.io/stop away",
});

/** The switch works as `vcctl job suspend` and `vcctl job resume` do. */
const volcanoJob: Make = (owner, { namespace }) => ({
  stop: volcanoCommand(namespace ?? "", "AbortJob", owner),
  start: volcanoCommand(namespace ?? "", "ResumeJob", owner),
  doing: "Abort",
  precondition: "it has not finished",
  again: "someone resumes it (vcctl job resume)",
});

const inRunPolicy = suspended("runPolicy", "suspend");
const inSpec = suspended("suspend");

/**
 * The kinds that can be switched, as `Kind.group`. They were checked against their resource definitions; no other kind is
 * switched.
 */
const known: Readonly<Record<string, Known>> = {
  "Job.batch": { resource: "jobs", make: inSpec },
  "JobSet.jobset.x-k8s.io": { resource: "jobsets", make: inSpec },
  "TrainJob.trainer.kubeflow.org": { resource: "trainjobs", make: inSpec },
  "PyTorchJob.kubeflow.org": { resource: "pytorchjobs", make: inRunPolicy },
  "TFJob.kubeflow.org": { resource: "tfjobs", make: inRunPolicy },
  "MPIJob.kubeflow.org": { resource: "mpijobs", make: inRunPolicy },
  "XGBoostJob.kubeflow.org": { resource: "xgboostjobs", make: inRunPolicy },
  "PaddleJob.kubeflow.org": { resource: "paddlejobs", make: inRunPolicy },
  "JAXJob.kubeflow.org": { resource: "jaxjobs", make: inRunPolicy },
  "RayJob.ray.io": { resource: "rayjobs", make: rayJob },
  "RayCluster.ray.io": { resource: "rayclusters", make: inSpec },
  "Job.batch.volcano.sh": { resource: "jobs", make: volcanoJob },
  "Deployment.apps": { resource: "deployments", make: scaled },
  "ReplicaSet.apps": { resource: "replicasets", make: scaled },
  "StatefulSet.apps": { resource: "statefulsets", make: scaled },
  "LeaderWorkerSet.leaderworkerset.x-k8s.io": { resource: "leaderworkersets", make: groupSet },
  "Notebook.kubeflow.org": { resource: "notebooks", make: notebook },
  "InferenceService.serving.kserve.io": { resource: "inferenceservices", make: inferenceService },
};

/** The switch of an owner; `null` if its kind has none, or none that is known. */
export function ownerSwitch(owner: OwnerRef, namespace: string, facts: SwitchFacts): OwnerSwitch | null {
  const { group, version } = groupVersion(owner.apiVersion);
  const key = `${owner.kind}.${group}`;
  const found = Object.hasOwn(known, key) ? known[key] : undefined;
  if (found === undefined || !isObjectName(owner.name) || !isUid(owner.uid)) return null;
  return found.make(owner, { group, version, resource: found.resource, namespace, name: owner.name }, facts);
}
