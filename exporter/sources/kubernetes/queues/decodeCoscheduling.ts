import type { CoschedulingPodGroup } from "../../../model/queues/coscheduling.ts";
import { controllerOf, type Decoded, decodeObject } from "../decoded.ts";
import { child, number } from "../fields.ts";

/**
 * A PodGroup of the coscheduling plugin as a model record. Source: kubernetes-sigs/scheduler-plugins v0.34,
 * `apis/scheduling/v1alpha1`.
 */
export function decodeCoschedulingPodGroup(value: unknown): Decoded<CoschedulingPodGroup> {
  return decodeObject("PodGroup", value, (object, meta) => ({
    ...meta,
    minMember: number(child(object, "spec"), "minMember") ?? 0,
    owner: controllerOf(object),
    running: number(child(object, "status"), "running") ?? 0,
  }));
}
