import { type OptionalRight, resourceName } from "./rights.ts";

/** A kind that may own pods, directly or through others: its group, and its plural name as in a path and in a role. */
export interface OwnerKind {
  readonly group: string;
  readonly resource: string;
  /** The optional right that its `get` belongs to; `null` if every installation has it. */
  readonly right: OptionalRight | null;
}

/**
 * The owners that Fairlead knows by kind. The version is taken from the reference itself, so that an older or newer version of
 * the same kind is read too. Kinds of the core group that are not listed here are never read.
 */
export const ownerKinds: Readonly<Record<string, readonly OwnerKind[]>> = {
  // For LeaderWorkerSet: the workers' StatefulSet is owned by the leader pod.
  Pod: [{ group: "", resource: "pods", right: null }],
  ReplicationController: [{ group: "", resource: "replicationcontrollers", right: null }],
  ReplicaSet: [{ group: "apps", resource: "replicasets", right: null }],
  Deployment: [{ group: "apps", resource: "deployments", right: null }],
  StatefulSet: [{ group: "apps", resource: "statefulsets", right: null }],
  DaemonSet: [{ group: "apps", resource: "daemonsets", right: null }],
  ScaledJob: [{ group: "keda.sh", resource: "scaledjobs", right: "autoscalers" }],
  Job: [
    { group: "batch", resource: "jobs", right: null },
    { group: "batch.volcano.sh", resource: "jobs", right: "volcano" },
  ],
  CronJob: [{ group: "batch", resource: "cronjobs", right: null }],
  JobSet: [{ group: "jobset.x-k8s.io", resource: "jobsets", right: "workloads" }],
  TrainJob: [{ group: "trainer.kubeflow.org", resource: "trainjobs", right: "workloads" }],
  PyTorchJob: [{ group: "kubeflow.org", resource: "pytorchjobs", right: "workloads" }],
  TFJob: [{ group: "kubeflow.org", resource: "tfjobs", right: "workloads" }],
  XGBoostJob: [{ group: "kubeflow.org", resource: "xgboostjobs", right: "workloads" }],
  JAXJob: [{ group: "kubeflow.org", resource: "jaxjobs", right: "workloads" }],
  PaddleJob: [{ group: "kubeflow.org", resource: "paddlejobs", right: "workloads" }],
  MPIJob: [{ group: "kubeflow.org", resource: "mpijobs", right: "workloads" }],
  Notebook: [{ group: "kubeflow.org", resource: "notebooks", right: "workloads" }],
  RayJob: [{ group: "ray.io", resource: "rayjobs", right: "workloads" }],
  RayCluster: [{ group: "ray.io", resource: "rayclusters", right: "workloads" }],
  RayService: [{ group: "ray.io", resource: "rayservices", right: "workloads" }],
  LeaderWorkerSet: [{ group: "leaderworkerset.x-k8s.io", resource: "leaderworkersets", right: "workloads" }],
  InferenceService: [{ group: "serving.kserve.io", resource: "inferenceservices", right: "workloads" }],
  LLMInferenceService: [{ group: "serving.kserve.io", resource: "llminferenceservices", right: "workloads" }],
  // For Knative.
  Service: [{ group: "serving.knative.dev", resource: "services", right: "workloads" }],
  Configuration: [{ group: "serving.knative.dev", resource: "configurations", right: "workloads" }],
  Revision: [{ group: "serving.knative.dev", resource: "revisions", right: "workloads" }],
  Rollout: [{ group: "argoproj.io", resource: "rollouts", right: "workloads" }],
  NIMService: [{ group: "apps.nvidia.com", resource: "nimservices", right: "workloads" }],
  SeldonDeployment: [{ group: "machinelearning.seldon.io", resource: "seldondeployments", right: "workloads" }],
  DynamoGraphDeployment: [{ group: "nvidia.com", resource: "dynamographdeployments", right: "workloads" }],
  DynamoComponentDeployment: [{ group: "nvidia.com", resource: "dynamocomponentdeployments", right: "workloads" }],
  AppWrapper: [{ group: "workload.codeflare.dev", resource: "appwrappers", right: "workloads" }],
  SparkApplication: [{ group: "sparkoperator.k8s.io", resource: "sparkapplications", right: "workloads" }],
};

/** Group and version of an `apiVersion`; `null` if a user wrote something else there. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } | null {
  const parts = /^(?:([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\/)?(v[a-z0-9]{1,30})$/.exec(apiVersion);
  return parts === null ? null : { group: parts[1] ?? "", version: parts[2] ?? "" };
}

/** The resource name of a known kind in a group; `null` if the kind is not one of ours. */
export function ownerResource(group: string, kind: string): string | null {
  if (!Object.hasOwn(ownerKinds, kind)) return null;
  return ownerKinds[kind]?.find((known) => known.group === group)?.resource ?? null;
}

/** The kind in `ownerKinds` with this resource name (see `resourceName`); `null` if there is none. */
export function knownOwner(name: string): OwnerKind | null {
  const kinds = Object.values(ownerKinds).flat();
  return kinds.find(({ group, resource }) => resourceName(group, resource) === name) ?? null;
}
