import type { KaiPodGroup, KaiSchedulingCondition } from "../../../model/queues/kai.ts";
import { kaiNames } from "../../../model/wellKnown.ts";
import { controllerOf, type Decoded, decodeObject } from "../decoded.ts";
import { child, has, type Place, time } from "../fields.ts";
import { annotationTime, checkpointTime } from "./annotationTime.ts";
import { nameText, optionalAmounts, optionalName, shortText, someItems } from "./bounds.ts";
import { maxMessageChars, maxReasonChars } from "./conditions.ts";
import { gangMinimum } from "./kaiSubGroups.ts";

const maxConditions = 32;
const maxReasons = 16;

/** A PodGroup of KAI or Run:ai (`scheduling.run.ai/v2alpha2`) as a model record. */
export function decodeKaiPodGroup(value: unknown, nodePoolLabel: string = kaiNames.nodePool): Decoded<KaiPodGroup> {
  return decodeObject("PodGroup", value, (object, meta) => {
    const spec = child(object, "spec");
    const status = child(object, "status");
    const resources = child(status, "resourcesStatus");
    return {
      ...meta,
      queue: nameText(spec, "queue"),
      minMember: gangMinimum(spec),
      priorityClass: optionalName(spec, "priorityClassName"),
      preemptibility: optionalName(spec, "preemptibility"),
      nodePool: optionalName(child(child(object, "metadata"), "labels"), nodePoolLabel),
      owner: controllerOf(object),
      schedulingConditions: someItems(status, "schedulingConditions", maxConditions).map(schedulingCondition),
      allocated: has(status, "resourcesStatus") ? optionalAmounts(resources, "allocated") : null,
      requested: has(status, "resourcesStatus") ? optionalAmounts(resources, "requested") : null,
      lastStartAt: annotationTime(object, kaiNames.lastStart),
      lastEvictionAt: annotationTime(object, kaiNames.lastEviction),
      staleSince: annotationTime(object, kaiNames.stale),
      checkpointedAt: checkpointTime(object),
    };
  });
}

function schedulingCondition(entry: Place): KaiSchedulingCondition {
  return {
    type: shortText(entry, "type", maxReasonChars),
    nodePool: nameText(entry, "nodePool"),
    reasons: reasons(entry),
    message: shortText(entry, "message", maxMessageChars),
    changedAt: time(entry, "lastTransitionTime"),
  };
}

/** `reasons`, or the single `reason` of versions before it. */
function reasons(entry: Place): KaiSchedulingCondition["reasons"] {
  const listed = someItems(entry, "reasons", maxReasons).map((reason) => ({
    reason: shortText(reason, "reason", maxReasonChars),
    message: shortText(reason, "message", maxMessageChars),
  }));
  const single = shortText(entry, "reason", maxReasonChars);
  if (listed.length > 0 || single === "") return listed;
  return [{ reason: single, message: shortText(entry, "message", maxMessageChars) }];
}
