import type { ObjectKind } from "../../model/cluster.ts";
import type { QueueObjectKind } from "../../model/queues/queueObjects.ts";

/** A kind that Fairlead lists and watches, as the API names it. */
export interface WatchedKind {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Versions that the decoder reads, best first. */
  readonly versions: readonly [string, ...string[]];
  /** Plural name, as in a path and in a role. */
  readonly resource: string;
  /** Whether a cluster may lack it. */
  readonly optional: boolean;
}

export type WatchedKindName = Exclude<ObjectKind, "owners" | QueueObjectKind>;

/** All that is listed and watched; `deploy/clusterrole.yaml` allows exactly this and the owners of `ownerKinds.ts`. */
export const watchedKinds = {
  nodes: { group: "", versions: ["v1"], resource: "nodes", optional: false },
  pods: { group: "", versions: ["v1"], resource: "pods", optional: false },
  namespaces: { group: "", versions: ["v1"], resource: "namespaces", optional: false },
  priorityClasses: {
    group: "scheduling.k8s.io",
    versions: ["v1"],
    resource: "priorityclasses",
    optional: false,
  },
  podDisruptionBudgets: { group: "policy", versions: ["v1"], resource: "poddisruptionbudgets", optional: false },
  resourceClaims: {
    group: "resource.k8s.io",
    versions: ["v1", "v1beta2", "v1beta1"],
    resource: "resourceclaims",
    optional: true,
  },
  resourceSlices: {
    group: "resource.k8s.io",
    versions: ["v1", "v1beta2", "v1beta1"],
    resource: "resourceslices",
    optional: true,
  },
} as const satisfies Readonly<Record<WatchedKindName, WatchedKind>>;

/** Path of a group and version: `/api/v1`, `/apis/batch/v1`. */
export function groupVersionPath(group: string, version: string): string {
  const [safeGroup, safeVersion] = [encodeURIComponent(group), encodeURIComponent(version)];
  return group === "" ? `/api/${safeVersion}` : `/apis/${safeGroup}/${safeVersion}`;
}
