import type { CapacityType } from "./capacityType.ts";
import type { ResourceAmounts } from "./node.ts";

/** Who adds and removes the nodes of a node pool. */
export const nodePoolManagers = ["karpenter", "cluster-autoscaler", "cloud", "none"] as const;

export type NodePoolManager = (typeof nodePoolManagers)[number];

/** A NodePool of Karpenter, as its object says. */
export interface KarpenterNodePool {
  readonly name: string;
  /** `spec.limits`: the most of each resource that its nodes may have together, base units; empty: no limit. */
  readonly limits: ResourceAmounts;
  /** `spec.disruption.consolidationPolicy`, and after how many seconds; `null` seconds: never. */
  readonly consolidationPolicy: string;
  readonly consolidateAfterSeconds: number | null;
  /** Capacity types that its requirements allow; empty: not restricted. */
  readonly capacityTypes: readonly CapacityType[];
}

/** A node group as the Cluster Autoscaler reports it in its status ConfigMap. */
export interface AutoscalerNodeGroup {
  readonly name: string;
  readonly minSize: number | null;
  readonly maxSize: number | null;
}
