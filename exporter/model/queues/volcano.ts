import type { ResourceAmounts } from "../node.ts";
import type { OwnerRef } from "../pod.ts";
import type { Condition } from "./condition.ts";
import type { ObjectRevision } from "./objectRevision.ts";

/** Objects of Volcano (`scheduling.volcano.sh/v1beta1`), cut down to what Fairlead uses. Amounts in base units. */

export interface VolcanoQueue {
  readonly name: string;
  /** `spec.parent`; `null` without one. */
  readonly parent: string | null;
  /** Default 1. */
  readonly weight: number;
  readonly capability: ResourceAmounts | null;
  /** `spec.guarantee.resource`. */
  readonly guarantee: ResourceAmounts | null;
  /** Only the `capacity` plugin reads it. */
  readonly deserved: ResourceAmounts | null;
  /** Absent is true. */
  readonly reclaimable: boolean;
  readonly priority: number;
  /** `status.state`, such as `Open` or `Closed`. */
  readonly state: string | null;
  readonly allocated: ResourceAmounts | null;
  /** Annotations `volcano.sh/hierarchy` and `volcano.sh/hierarchy-weights` of the drf plugin. */
  readonly hierarchy: string | null;
  readonly hierarchyWeights: string | null;
  readonly createdAt: number | null;
  /** `null`, or absent: a file that does not say, or built by hand. */
  readonly revision?: ObjectRevision | null;
}

export interface VolcanoPodGroup {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number | null;
  /** Default `default`. */
  readonly queue: string;
  readonly minMember: number;
  readonly minResources: ResourceAmounts | null;
  readonly priorityClass: string | null;
  readonly owner: OwnerRef | null;
  /** `Pending`, `Inqueue`, `Running`, `Unknown`, `Completed`; empty when the object does not say. */
  readonly phase: string;
  readonly running: number;
  readonly conditions: readonly Condition[];
  /** Annotation of Volcano or of Fairlead, seconds since the epoch. */
  readonly checkpointedAt: number | null;
}
