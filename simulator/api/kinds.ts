/** A kind of object that the simulated API server serves. */
export interface KindInfo {
  /** Plural name in URLs. */
  readonly resource: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Custom resources repeat kind and apiVersion in each item of a list; built-in kinds do not. */
  readonly custom: boolean;
}

function kind(
  group: string,
  version: string,
  name: string,
  resource: string,
  scope: "cluster" | "namespace",
): KindInfo {
  const custom = group.endsWith(".x-k8s.io") || group === "kubeflow.org";
  return { resource, group, version, kind: name, namespaced: scope === "namespace", custom };
}

/** All kinds, in the order of discovery. */
export const kinds = [
  kind("", "v1", "Namespace", "namespaces", "cluster"),
  kind("", "v1", "Node", "nodes", "cluster"),
  kind("", "v1", "Pod", "pods", "namespace"),
  kind("apps", "v1", "DaemonSet", "daemonsets", "namespace"),
  kind("apps", "v1", "Deployment", "deployments", "namespace"),
  kind("apps", "v1", "ReplicaSet", "replicasets", "namespace"),
  kind("apps", "v1", "StatefulSet", "statefulsets", "namespace"),
  kind("batch", "v1", "Job", "jobs", "namespace"),
  kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "namespace"),
  kind("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", "namespace"),
  kind("resource.k8s.io", "v1", "ResourceSlice", "resourceslices", "cluster"),
  kind("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "cluster"),
  kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", "namespace"),
  kind("kubeflow.org", "v1", "Notebook", "notebooks", "namespace"),
  kind("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs", "namespace"),
  kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", "namespace"),
] as const satisfies readonly KindInfo[];

/** `v1` or `group/version`. */
export function apiVersionOf(info: Pick<KindInfo, "group" | "version">): string {
  return info.group === "" ? info.version : `${info.group}/${info.version}`;
}

/** `pods`, `jobsets.jobset.x-k8s.io`: how messages name a resource. */
export function qualifiedResource(info: KindInfo): string {
  return info.group === "" ? info.resource : `${info.resource}.${info.group}`;
}

const byKind: ReadonlyMap<string, KindInfo> = new Map(kinds.map((info) => [info.kind, info]));

/** The kind of that name; throws for a name that the simulator does not serve, which is a mistake in its own code. */
export function kindInfo(name: string): KindInfo {
  const info = byKind.get(name);
  if (info === undefined) throw new Error(`simulator: kind ${name} is not in the table of kinds`);
  return info;
}
