import type { OwnerRef } from "../pod.ts";

/** Objects of Kubernetes' own gang scheduling (`scheduling.k8s.io`), cut down to what Fairlead uses. */

/** A PodGroup, as Kubernetes 1.36 and later have it: one gang, or pods that are placed one by one. */
export interface NativePodGroup {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number | null;
  /** Fewest pods that are placed together (`schedulingPolicy.gang.minCount`); `null` with the policy `basic`: it is no gang. */
  readonly minCount: number | null;
  /** Name of the Workload from whose template it was made; `null`: it was made without one. */
  readonly workload: string | null;
  readonly owner: OwnerRef | null;
  /** The scheduler says that it has placed enough pods for it. From Kubernetes 1.37 on that stays when it loses some afterwards. */
  readonly wasScheduled: boolean;
  /** It is being deleted. */
  readonly isEnding: boolean;
}

/** A Workload. In Kubernetes 1.35 its groups are the gangs themselves; later they are templates, and PodGroups are the gangs. */
export interface NativeWorkload {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number | null;
  /** The object for which it was made, by kind and name (`controllerRef`); `null`: it does not say. */
  readonly controller: NativeController | null;
  /** The groups of Kubernetes 1.35 (`podGroups`); empty of later ones. */
  readonly groups: readonly { readonly name: string; readonly minCount: number | null }[];
  /** It is being deleted. */
  readonly isEnding: boolean;
}

/** An object of the same namespace, as a Workload refers to it. */
export interface NativeController {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}
