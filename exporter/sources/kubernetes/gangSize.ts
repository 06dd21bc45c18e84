import { apiGroup } from "../../model/apiGroup.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import { isContainerShare, podAnnotations } from "../../model/wellKnown.ts";
import { child, flag, has, items, type Place, text } from "./fields.ts";

/** Reads from the specification of a controller how many of its pods start together; `null` if it does not declare that. */
type ReadSize = (spec: Place) => number | null;

/** Kinds whose pods start together or wait for each other, by name and group. */
const kinds: Readonly<Record<string, ReadSize>> = {
  "Job.batch": indexedJob,
  "PyTorchJob.kubeflow.org": trainingJob("pytorchReplicaSpecs"),
  "TFJob.kubeflow.org": trainingJob("tfReplicaSpecs"),
  "XGBoostJob.kubeflow.org": trainingJob("xgbReplicaSpecs"),
  "PaddleJob.kubeflow.org": trainingJob("paddleReplicaSpecs"),
  "JAXJob.kubeflow.org": trainingJob("jaxReplicaSpecs"),
  "MPIJob.kubeflow.org": trainingJob("mpiReplicaSpecs"),
  "RayCluster.ray.io": rayCluster,
  "LeaderWorkerSet.leaderworkerset.x-k8s.io": leaderWorkerSet,
};

/** Replica types without which the others start. */
const bystanders: ReadonlySet<string> = new Set(["Evaluator", "Launcher"]);

/** Whether the specification of an owner declares how many of its pods start together. */
export function hasGangSize(owner: { readonly apiVersion: string; readonly kind: string }): boolean {
  return readerOf(owner) !== null;
}

/**
 * The fewest pods with GPUs of a controller that start together, as its specification declares: all replicas of a training job,
 * and of an elastic one the least number that it needs; the pods of an Indexed Job that works on all its indexes at once; one
 * group of a LeaderWorkerSet. `null` where the specification does not declare it (a Job whose pods work alone), or is absent.
 * Sources: kubeflow/training-operator v1.9 `pkg/apis/kubeflow.org/v1`, kubeflow/mpi-operator `v2beta1`, ray-project/kuberay v1
 * `RayClusterSpec`, batch/v1.
 */
export function gangSize(owner: { readonly apiVersion: string; readonly kind: string }, object: Place): number | null {
  const read = readerOf(owner);
  return read === null || !has(object, "spec") ? null : read(child(object, "spec"));
}

function readerOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): ReadSize | null {
  const key = `${kind}.${apiGroup(apiVersion)}`;
  return Object.hasOwn(kinds, key) ? (kinds[key] ?? null) : null;
}

/**
 * The gang size of an Indexed Job that works on all its indexes at once. Pods of other Jobs take one index after the other, or
 * whatever is left to do, so each works alone.
 */
function indexedJob(spec: Place): number | null {
  const parallelism = whole(spec, "parallelism") ?? 1;
  return text(spec, "completionMode") === "Indexed" && whole(spec, "completions") === parallelism ? parallelism : null;
}

/** The gang size of a training job. A replica type without a count has one replica. */
function trainingJob(replicaSpecs: string): ReadSize {
  return (spec) => {
    const types = child(spec, replicaSpecs);
    let all = 0;
    for (const name of Object.keys(types.value)) {
      const type = child(types, name);
      if (!bystanders.has(name) && asksForGpus(child(type, "template"))) all += whole(type, "replicas") ?? 1;
    }
    // A template that names no GPU although its pods have them is not understood.
    if (all === 0) return null;
    const policy = child(child(spec, "runPolicy"), "schedulingPolicy");
    const elastic = whole(child(spec, "elasticPolicy"), "minReplicas");
    return Math.min(all, elastic ?? all, whole(policy, "minAvailable") ?? all);
  };
}

/** The gang size of a RayCluster. A cluster that scales itself starts with the fewest workers of each group. */
function rayCluster(spec: Place): number | null {
  const isElastic = flag(spec, "enableInTreeAutoscaling");
  let all = asksForGpus(child(child(spec, "headGroupSpec"), "template")) ? 1 : 0;
  for (const group of items(spec, "workerGroupSpecs")) {
    if (flag(group, "suspend") || !asksForGpus(child(group, "template"))) continue;
    const fewest = whole(group, "minReplicas") ?? 0;
    const replicas = isElastic ? fewest : (whole(group, "replicas") ?? fewest);
    all += replicas * (whole(group, "numOfHosts") ?? 1);
  }
  return all === 0 && !isElastic ? null : all;
}

/**
 * The size of one group. Without a template of its own, the leader is like a worker. Source: kubernetes-sigs/lws v0.7
 * `LeaderWorkerSetSpec`.
 */
function leaderWorkerSet(spec: Place): number | null {
  const template = child(spec, "leaderWorkerTemplate");
  const size = whole(template, "size") ?? 1;
  if (!asksForGpus(child(template, "workerTemplate"))) return null;
  return has(template, "leaderTemplate") && !asksForGpus(child(template, "leaderTemplate")) ? size - 1 : size;
}

const fractionAnnotations = [podAnnotations.kaiFraction, podAnnotations.kaiGpuMemoryMiB] as const;

function asksForGpus(template: Place): boolean {
  const annotations = child(child(template, "metadata"), "annotations");
  const spec = child(template, "spec");
  return (
    fractionAnnotations.some((name) => has(annotations, name)) ||
    Object.keys(annotations.value).some(isContainerShare) ||
    items(spec, "resourceClaims").length > 0 ||
    items(spec, "containers").some((container) => {
      const resources = child(container, "resources");
      const names = ["limits", "requests"].flatMap((part) => Object.keys(child(resources, part).value));
      return names.some((name) => gpuLikeResource(name));
    })
  );
}

/**
 * A whole number in a field. An invalid count is the same as none: the owner of a pod must stay known whatever the
 * specification contains.
 */
function whole(place: Place, key: string): number | null {
  const found = place.value[key];
  return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : null;
}
