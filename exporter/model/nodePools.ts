import type { CapacityType } from "./capacityType.ts";
import type { ResourceAmounts } from "./node.ts";
import type { ObjectRevision } from "./queues/objectRevision.ts";

/** Who adds and removes the nodes of a node pool. */
export const nodePoolManagers = ["karpenter", "cluster-autoscaler", "cloud", "none"] as const;

export type NodePoolManager = (typeof nodePoolManagers)[number];

/** An entry of `spec.disruption.budgets`: Karpenter disrupts no more nodes at a time than the strictest active one allows. */
export interface NodePoolBudget {
  /** A number of nodes or a percentage of them: `0`, `3`, `10%`. */
  readonly nodes: string;
  /** The reasons for which it holds (`Empty`, `Underutilized`, `Drifted`); empty: all reasons. */
  readonly reasons: readonly string[];
  /** Cron line that defines when it is active, in UTC; empty: always. */
  readonly schedule: string;
}

/** A NodePool of Karpenter, as its object describes it. */
export interface KarpenterNodePool {
  readonly name: string;
  /** `spec.limits`: the most of each resource that its nodes may have together, base units; empty: no limit. */
  readonly limits: ResourceAmounts;
  /** `spec.disruption.consolidationPolicy`, and the seconds after which it applies; `null` seconds: never. */
  readonly consolidationPolicy: string;
  readonly consolidateAfterSeconds: number | null;
  /** `spec.disruption.budgets` in their order; absent: no budgets are known. */
  readonly budgets?: readonly NodePoolBudget[];
  /** Capacity types that its requirements allow: empty if they exclude each of them; `null`: they do not restrict them. */
  readonly capacityTypes: readonly CapacityType[] | null;
  /** `spec.replicas`: it keeps exactly this many nodes, and neither adds nor consolidates; `null`: as many as pods need. */
  readonly replicas: number | null;
  /** State of the object that was read; absent or `null` where the object has none. */
  readonly revision?: ObjectRevision | null;
}

/** A node group as the Cluster Autoscaler reports it in its status ConfigMap. */
export interface AutoscalerNodeGroup {
  /** The name that the cloud gives it: an Auto Scaling group, the address of an instance group, a scale set, an OCID. */
  readonly name: string;
  readonly minSize: number | null;
  readonly maxSize: number | null;
}
