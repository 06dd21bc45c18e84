/** Effects of a node taint, as Kubernetes spells them. */
export type TaintEffect = "NoSchedule" | "PreferNoSchedule" | "NoExecute";

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: TaintEffect;
}

/** Amounts by resource name, for example `nvidia.com/gpu` -> 8. Extended resources are whole numbers. */
export type ResourceAmounts = Readonly<Record<string, number>>;

/** Labels or annotations. Keys and values are written by users and vendors: untrusted text. */
export type TextMap = Readonly<Record<string, string>>;

/** A Kubernetes Node, cut down to what Fairlead uses. */
export interface ClusterNode {
  readonly name: string;
  readonly uid: string;
  /** `status.nodeInfo.bootID`; empty when unknown. A new one means that the machine was restarted. */
  readonly bootId: string;
  /** Seconds since the epoch; `null` when the object has no such time. */
  readonly createdAt: number | null;
  readonly labels: TextMap;
  /** Only the annotations that Fairlead reads (`annotationsOfNodes` in the decoder). */
  readonly annotations: TextMap;
  readonly taints: readonly Taint[];
  /** `spec.unschedulable`: whether the node is cordoned. */
  readonly unschedulable: boolean;
  /** Condition `Ready`: `null` where the object has no such condition. `Unknown` counts as not ready. */
  readonly ready: boolean | null;
  /** When `ready` took its present value, seconds since the epoch; `null` when unknown. */
  readonly readyChangedAt: number | null;
  /** `status.capacity`, extended resources only (names with a `/`). */
  readonly capacity: ResourceAmounts;
  /** `status.allocatable`, extended resources only; `null` where the object has none at all. */
  readonly allocatable: ResourceAmounts | null;
  readonly allocatableCpuMilli: number;
  readonly allocatableMemoryBytes: number;
  /** `spec.providerID`, such as `aws:///eu-west-1a/i-0abc`; empty when unknown. */
  readonly providerId: string;
}
