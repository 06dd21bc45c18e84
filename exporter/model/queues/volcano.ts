import type { ResourceAmounts } from "../node.ts";
import type { OwnerRef } from "../pod.ts";
import type { RequiredTopology } from "../topology.ts";
import type { Condition } from "./condition.ts";
import type { ObjectRevision } from "./objectRevision.ts";

/** Objects of Volcano (`scheduling.volcano.sh/v1beta1`), cut down to what Fairlead uses. Amounts in base units. */

export interface VolcanoQueue {
  readonly name: string;
  /** `spec.parent`; `null` without one. */
  readonly parent: string | null;
  /** `spec.weight`, default 1. */
  readonly weight: number;
  readonly capability: ResourceAmounts | null;
  /** `spec.guarantee.resource`. */
  readonly guarantee: ResourceAmounts | null;
  /** `spec.deserved`, which only the `capacity` plugin reads. */
  readonly deserved: ResourceAmounts | null;
  /** `spec.reclaimable`; true if absent. */
  readonly reclaimable: boolean;
  readonly priority: number;
  /** `status.state`, such as `Open` or `Closed`. */
  readonly state: string | null;
  readonly allocated: ResourceAmounts | null;
  /** Annotations `volcano.sh/hierarchy` and `volcano.sh/hierarchy-weights` of the drf plugin. */
  readonly hierarchy: string | null;
  readonly hierarchyWeights: string | null;
  readonly createdAt: number | null;
  /** State of the object that was read; `null` or absent for one from a file without it, or built by hand. */
  readonly revision?: ObjectRevision | null;
}

export interface VolcanoPodGroup {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number | null;
  /** `spec.queue`, default `default`. */
  readonly queue: string;
  readonly minMember: number;
  readonly minResources: ResourceAmounts | null;
  readonly priorityClass: string | null;
  readonly owner: OwnerRef | null;
  /** `Pending`, `Inqueue`, `Running`, `Unknown`, `Completed`; empty when the object has none. */
  readonly phase: string;
  readonly running: number;
  readonly conditions: readonly Condition[];
  /** The last checkpoint by the annotation of Volcano or of Fairlead, seconds since the epoch. */
  readonly checkpointedAt: number | null;
  /** The highest tier of HyperNodes within one of which its pods must be; absent where it requires none. */
  readonly requiredTopology?: RequiredTopology;
}
