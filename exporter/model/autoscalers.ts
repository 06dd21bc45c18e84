import type { OwnerRef } from "./pod.ts";

/** What an autoscaler scales: an object in the autoscaler's own namespace. */
export interface ScaleTarget {
  /** Group and version of the object; empty where the autoscaler does not name them. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** A HorizontalPodAutoscaler (`autoscaling/v2`). */
export interface HorizontalPodAutoscaler {
  readonly namespace: string;
  readonly name: string;
  readonly target: ScaleTarget;
  /** `spec.minReplicas`, default 1. */
  readonly minReplicas: number;
  readonly maxReplicas: number | null;
  /**
   * Its creator: KEDA creates one for each ScaledObject, KServe for an InferenceService; `null` for one that a person wrote.
   */
  readonly owner: OwnerRef | null;
}

/** A ScaledObject of KEDA (`keda.sh/v1alpha1`). */
export interface ScaledObject {
  readonly namespace: string;
  readonly name: string;
  readonly target: ScaleTarget;
  /** `spec.minReplicaCount`, default 0. */
  readonly minReplicas: number;
  /** `spec.idleReplicaCount`: the number of replicas while no trigger is active; `null` where it is not set. */
  readonly idleReplicas: number | null;
  readonly maxReplicas: number | null;
  /** Triggers that can start the first replica: all but those of CPU and memory, which are measured on running pods. */
  readonly wakingTriggers: number;
}

/** A VerticalPodAutoscaler (`autoscaling.k8s.io/v1`). It changes CPU and memory of pods, never GPUs. */
export interface VerticalPodAutoscaler {
  readonly namespace: string;
  readonly name: string;
  readonly target: ScaleTarget;
  /**
   * `spec.updatePolicy.updateMode`: `Off`, `Initial`, `Recreate`, `InPlaceOrRecreate`, `Auto` (the default); untrusted text.
   */
  readonly updateMode: string;
}

/** The autoscalers of workloads; each is `null` where its kind could not be read. */
export interface Autoscalers {
  readonly horizontal: readonly HorizontalPodAutoscaler[] | null;
  readonly scaledObjects: readonly ScaledObject[] | null;
  readonly vertical: readonly VerticalPodAutoscaler[] | null;
}

/** The value for when it is unknown what scales work. */
export const unknownAutoscalers: Autoscalers = { horizontal: null, scaledObjects: null, vertical: null };
