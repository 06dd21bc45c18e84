/** The properties of a pod that decide whether it may be taken off its node. */
export interface PodDisruption {
  /** Whether a kubelet created it from a file on its node (a mirror pod): nothing else can move it. */
  readonly isStatic: boolean;
  /**
   * Whether it has a volume on its node (`hostPath`, or an `emptyDir` that is not memory) that its author did not call safe to
   * lose.
   */
  readonly hasLocalStorage: boolean;
  /** Name of the annotation by which the author of the pod or of its owner asks to leave the pod alone; `null` without one. */
  readonly forbiddenBy: string | null;
}

/** The value for a pod that contains nothing that forbids taking it off its node. */
export const mayBeDisrupted: PodDisruption = { isStatic: false, hasLocalStorage: false, forbiddenBy: null };

/** The fields of a batch/v1 Job that decide whether it survives the loss of a pod. */
export interface JobLimits {
  /**
   * `spec.backoffLimit`, default 6; `null` where failures are counted by index (`backoffLimitPerIndex`) and no index sets it.
   */
  readonly backoffLimit: number | null;
  /** `status.failed` when the Job was last read, which is some minutes ago at most. */
  readonly failed: number;
  /**
   * What `spec.podFailurePolicy` does with a pod that was disrupted (condition `DisruptionTarget`): `Count` if no rule applies,
   * and the worst case if that depends on how its processes end when they are asked to.
   */
  readonly onDisruption: "FailJob" | "FailIndex" | "Ignore" | "Count";
  readonly isSuspended: boolean;
}

/** The object by which a queue system knows a workload. */
export interface QueueObjectRef {
  readonly scheduler: "kueue" | "kai" | "volcano";
  readonly kind: "Workload" | "PodGroup";
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
