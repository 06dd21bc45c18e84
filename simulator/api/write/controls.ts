import type { KubeObject } from "../../objects/kubeObject.ts";
import type { KindInfo } from "../kinds.ts";

/** What writes to the API do to the simulated cluster. Everything is published when a call returns. */
export interface ClusterControls {
  /** Takes a pod away; its owner reacts in the next step. */
  removePod(namespace: string, name: string, by: "eviction" | "deletion"): void;
  deleteNode(name: string): void;
  /** Labels, annotations and spec of the object become those of `wanted`, and what controls it follows. */
  change(info: KindInfo, wanted: KubeObject): void;
}
