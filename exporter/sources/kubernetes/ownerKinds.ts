/** A kind that may own pods, directly or through others: group, and plural as in a path and in a role. */
export interface OwnerKind {
  readonly group: string;
  readonly resource: string;
}

/**
 * Owners that Fairlead knows by kind. The version is taken from the reference itself, so that an older or newer
 * version of the same kind is read too. Kinds of the core group that are not here are never read.
 */
export const ownerKinds: Readonly<Record<string, readonly OwnerKind[]>> = {
  // LeaderWorkerSet: the workers' StatefulSet is owned by the leader pod.
  Pod: [{ group: "", resource: "pods" }],
  ReplicationController: [{ group: "", resource: "replicationcontrollers" }],
  ReplicaSet: [{ group: "apps", resource: "replicasets" }],
  Deployment: [{ group: "apps", resource: "deployments" }],
  StatefulSet: [{ group: "apps", resource: "statefulsets" }],
  DaemonSet: [{ group: "apps", resource: "daemonsets" }],
  Job: [
    { group: "batch", resource: "jobs" },
    { group: "batch.volcano.sh", resource: "jobs" },
  ],
  CronJob: [{ group: "batch", resource: "cronjobs" }],
  JobSet: [{ group: "jobset.x-k8s.io", resource: "jobsets" }],
  TrainJob: [{ group: "trainer.kubeflow.org", resource: "trainjobs" }],
  PyTorchJob: [{ group: "kubeflow.org", resource: "pytorchjobs" }],
  TFJob: [{ group: "kubeflow.org", resource: "tfjobs" }],
  XGBoostJob: [{ group: "kubeflow.org", resource: "xgboostjobs" }],
  JAXJob: [{ group: "kubeflow.org", resource: "jaxjobs" }],
  PaddleJob: [{ group: "kubeflow.org", resource: "paddlejobs" }],
  MPIJob: [{ group: "kubeflow.org", resource: "mpijobs" }],
  Notebook: [{ group: "kubeflow.org", resource: "notebooks" }],
  RayJob: [{ group: "ray.io", resource: "rayjobs" }],
  RayCluster: [{ group: "ray.io", resource: "rayclusters" }],
  RayService: [{ group: "ray.io", resource: "rayservices" }],
  LeaderWorkerSet: [{ group: "leaderworkerset.x-k8s.io", resource: "leaderworkersets" }],
  InferenceService: [{ group: "serving.kserve.io", resource: "inferenceservices" }],
  AppWrapper: [{ group: "workload.codeflare.dev", resource: "appwrappers" }],
  SparkApplication: [{ group: "sparkoperator.k8s.io", resource: "sparkapplications" }],
};

/** Group and version of an `apiVersion`; `null` if it is not one, whatever a user wrote there. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } | null {
  const parts = /^(?:([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\/)?(v[a-z0-9]{1,30})$/.exec(apiVersion);
  return parts === null ? null : { group: parts[1] ?? "", version: parts[2] ?? "" };
}

/** The known resource of a kind in a group; `null` if it is not one of ours. */
export function ownerResource(group: string, kind: string): string | null {
  if (!Object.hasOwn(ownerKinds, kind)) return null;
  return ownerKinds[kind]?.find((known) => known.group === group)?.resource ?? null;
}
