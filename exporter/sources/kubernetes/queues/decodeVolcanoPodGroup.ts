import type { VolcanoPodGroup } from "../../../model/queues/volcano.ts";
import { controllerOf, type Decoded, decodeObject } from "../decoded.ts";
import { child, number } from "../fields.ts";
import { checkpointTime } from "./annotationTime.ts";
import { nameText, optionalAmounts, optionalName } from "./bounds.ts";
import { conditions } from "./conditions.ts";

const defaultQueue = "default";

/** A PodGroup of Volcano (`scheduling.volcano.sh/v1beta1`) as a model record. */
export function decodeVolcanoPodGroup(value: unknown): Decoded<VolcanoPodGroup> {
  return decodeObject("PodGroup", value, (object, meta) => {
    const spec = child(object, "spec");
    const status = child(object, "status");
    return {
      ...meta,
      queue: optionalName(spec, "queue") ?? defaultQueue,
      minMember: number(spec, "minMember") ?? 0,
      minResources: optionalAmounts(spec, "minResources"),
      priorityClass: optionalName(spec, "priorityClassName"),
      owner: controllerOf(object),
      phase: nameText(status, "phase"),
      running: number(status, "running") ?? 0,
      conditions: conditions(status),
      checkpointedAt: checkpointTime(object),
    };
  });
}
