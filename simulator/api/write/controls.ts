import type { KubeObject } from "../../objects/kubeObject.ts";
import type { KindInfo } from "../kinds.ts";

/** What writes to the API do to the simulated cluster. All changes are published when a call returns. */
export interface ClusterControls {
  /** Takes a pod away; its owner reacts in the next step. */
  removePod(namespace: string, name: string, by: "eviction" | "deletion"): void;
  deleteNode(name: string): void;
  /** Gives the object the labels, annotations and spec of `wanted`, and lets the cluster act on them. */
  change(info: KindInfo, wanted: KubeObject): void;
}
