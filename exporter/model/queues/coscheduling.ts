import type { OwnerRef } from "../pod.ts";

/** A PodGroup of the coscheduling plugin (`scheduling.x-k8s.io`, kubernetes-sigs/scheduler-plugins): pods that start together. */
export interface CoschedulingPodGroup {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number | null;
  /** Fewest pods that start together (`spec.minMember`); 0 where the object does not say. */
  readonly minMember: number;
  readonly owner: OwnerRef | null;
  /** Pods of it that run, as its controller counts them; 0 where no controller does. */
  readonly running: number;
}
