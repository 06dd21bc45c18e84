import type { TextMap } from "./node.ts";
import type { PodNeeds } from "./queues/podNeeds.ts";

/** The fields of a PersistentVolumeClaim that show where its volume is. */
export interface PersistentVolumeClaim {
  readonly namespace: string;
  readonly name: string;
  /** `spec.volumeName`; `null` while it is not bound. */
  readonly volumeName: string | null;
  /** Whether only one node at a time may attach it: none of its access modes is `ReadWriteMany` or `ReadOnlyMany`. */
  readonly isForOneNode: boolean;
}

/** A PersistentVolume, cut down to what decides which nodes can attach it. */
export interface PersistentVolume {
  readonly name: string;
  /** `spec.nodeAffinity.required`: one of the terms must match. Empty: any node. */
  readonly nodeAffinity: PodNeeds["nodeAffinity"];
  /** Whether it names nodes by another way than labels (matchFields). */
  readonly namesNodes: boolean;
  /** Labels of zones and regions, which show the place of volumes from before node affinity. */
  readonly topology: TextMap;
}

/** Labels of a volume that its node must have, too, with one of the values in it (kube-scheduler: VolumeZone). */
export const volumeTopologyLabels = [
  "topology.kubernetes.io/zone",
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
] as const;
