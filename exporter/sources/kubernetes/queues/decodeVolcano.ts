import type { VolcanoPodGroup, VolcanoQueue } from "../../../model/queues/volcano.ts";
import { volcanoNames } from "../../../model/wellKnown.ts";
import {
  annotation,
  checkpointTime,
  conditions,
  cut,
  nameText,
  optionalAmounts,
  optionalName,
  revisionOf,
} from "../boundedFields.ts";
import { controllerOf, type Decoded, decodeObject } from "../decoded.ts";
import { child, flag, has, number, type Place } from "../fields.ts";

const maxHierarchyChars = 1024;

/** A Queue of Volcano (`scheduling.volcano.sh/v1beta1`) as a model record. */
export function decodeVolcanoQueue(value: unknown): Decoded<VolcanoQueue> {
  return decodeObject("Queue", value, (object, meta) => {
    const spec = child(object, "spec");
    const status = child(object, "status");
    return {
      name: meta.name,
      parent: optionalName(spec, "parent"),
      weight: number(spec, "weight") ?? 1,
      capability: optionalAmounts(spec, "capability"),
      guarantee: optionalAmounts(child(spec, "guarantee"), "resource"),
      deserved: optionalAmounts(spec, "deserved"),
      reclaimable: !has(spec, "reclaimable") || flag(spec, "reclaimable"),
      priority: number(spec, "priority") ?? 0,
      state: optionalName(status, "state"),
      allocated: optionalAmounts(status, "allocated"),
      hierarchy: hierarchy(object, volcanoNames.hierarchy),
      hierarchyWeights: hierarchy(object, volcanoNames.hierarchyWeights),
      createdAt: meta.createdAt,
      revision: revisionOf(object),
    };
  });
}

function hierarchy(object: Place, name: string): string | null {
  const found = annotation(object, name);
  return found === null ? null : cut(found, maxHierarchyChars);
}

/** The highest tier of one HyperNode of which all pods must be. Only the mode `hard`, which is the default, requires one. */
function requiredTopology(network: Place): Pick<VolcanoPodGroup, "requiredTopology"> {
  if ((optionalName(network, "mode") ?? "hard") !== "hard") return {};
  const [tier, level] = [number(network, "highestTierAllowed"), optionalName(network, "highestTierName")];
  if (tier === null && level === null) return {};
  return { requiredTopology: { scheduler: "volcano", topology: null, level, tier } };
}

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
      ...requiredTopology(child(spec, "networkTopology")),
    };
  });
}
