import type {
  KaiPodGroup,
  KaiQueue,
  KaiQueueResource,
  KaiSchedulingCondition,
  KaiSchedulingShard,
} from "../../../model/queues/kai.ts";
import { kaiNames } from "../../../model/wellKnown.ts";
import {
  annotationTime,
  checkpointTime,
  conditions,
  duration,
  maxMessageChars,
  maxReasonChars,
  nameText,
  optionalAmounts,
  optionalName,
  revisionOf,
  shortText,
  someItems,
} from "../boundedFields.ts";
import { controllerOf, type Decoded, decodeObject } from "../decoded.ts";
import { child, has, number, type Place, time } from "../fields.ts";

const defaultPriority = 100;

/** A Queue of KAI or Run:ai (`scheduling.run.ai/v2`) as a model record. */
export function decodeKaiQueue(value: unknown, nodePoolLabel: string = kaiNames.nodePool): Decoded<KaiQueue> {
  return decodeObject("Queue", value, (object, meta) => {
    const spec = child(object, "spec");
    const status = child(object, "status");
    const resources = child(spec, "resources");
    return {
      name: meta.name,
      displayName: optionalName(spec, "displayName"),
      parent: optionalName(spec, "parentQueue"),
      nodePool: optionalName(child(child(object, "metadata"), "labels"), nodePoolLabel),
      priority: number(spec, "priority") ?? defaultPriority,
      createdAt: meta.createdAt,
      gpu: queueResource(resources, "gpu"),
      cpu: queueResource(resources, "cpu"),
      memory: queueResource(resources, "memory"),
      preemptMinRuntimeSeconds: duration(spec, "preemptMinRuntime"),
      reclaimMinRuntimeSeconds: duration(spec, "reclaimMinRuntime"),
      allocated: optionalAmounts(status, "allocated"),
      allocatedNonPreemptible: optionalAmounts(status, "allocatedNonPreemptible"),
      requested: optionalAmounts(status, "requested"),
      conditions: conditions(status),
      revision: revisionOf(object),
    };
  });
}

function queueResource(resources: Place, key: string): KaiQueueResource | null {
  if (!has(resources, key)) return null;
  const resource = child(resources, key);
  return {
    quota: number(resource, "quota") ?? 0,
    overQuotaWeight: number(resource, "overQuotaWeight") ?? 0,
    limit: number(resource, "limit") ?? 0,
  };
}

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
      ...requiredTopology(child(spec, "topologyConstraint")),
    };
  });
}

/** The level that a whole PodGroup requires; those of its sub-groups are not read. */
function requiredTopology(constraint: Place): Pick<KaiPodGroup, "requiredTopology"> {
  const level = optionalName(constraint, "requiredTopologyLevel");
  if (level === null) return {};
  return { requiredTopology: { scheduler: "kai", topology: optionalName(constraint, "topology"), level, tier: null } };
}

interface SubGroup {
  readonly name: string;
  readonly parent: string;
  readonly minMember: number | null;
  readonly minSubGroup: number | null;
}

/** The greatest depth of a tree that is read: no workload has deeper ones, and a cycle of parents ends here, too. */
const maxDepth = 8;

/**
 * How many pods a PodGroup of KAI must have in order to run. This is `minMember`, or else what its sub-groups need:
 * `minSubGroup` of them (all if it is not set) must run, the smallest first. 1 if nothing is declared.
 */
function gangMinimum(spec: Place): number {
  if (has(spec, "minMember")) return number(spec, "minMember") ?? 1;
  // Names are unique. If a name were repeated below itself, the same groups would be visited again and again.
  const groups = new Map<string, SubGroup>();
  for (const group of someItems(spec, "subGroups")) {
    const name = nameText(group, "name");
    groups.set(name, {
      name,
      parent: nameText(group, "parent"),
      minMember: number(group, "minMember"),
      minSubGroup: number(group, "minSubGroup"),
    });
  }
  if (groups.size === 0) return 1;
  const childrenOf = Map.groupBy(groups.values(), ({ parent }) => parent);
  return needOf(childrenOf, "", number(spec, "minSubGroup"), 0);
}

function needOf(
  childrenOf: ReadonlyMap<string, readonly SubGroup[]>,
  parent: string,
  minSubGroup: number | null,
  depth: number,
): number {
  const children = childrenOf.get(parent);
  if (children === undefined || depth === maxDepth) return 0;
  const needs = children.map((group) =>
    childrenOf.has(group.name) ? needOf(childrenOf, group.name, group.minSubGroup, depth + 1) : (group.minMember ?? 1),
  );
  needs.sort((a, b) => a - b);
  return needs.slice(0, minSubGroup ?? needs.length).reduce((sum, need) => sum + need, 0);
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

/** The `reasons`, or the single `reason` of older versions. */
function reasons(entry: Place): KaiSchedulingCondition["reasons"] {
  const listed = someItems(entry, "reasons", maxReasons).map((reason) => ({
    reason: shortText(reason, "reason", maxReasonChars),
    message: shortText(reason, "message", maxMessageChars),
  }));
  const single = shortText(entry, "reason", maxReasonChars);
  if (listed.length > 0 || single === "") return listed;
  return [{ reason: single, message: shortText(entry, "message", maxMessageChars) }];
}

/** Defaults of KAI's usage database: one week, sliding. */
const defaultWindowSeconds = 604_800;
const defaultWindowType = "sliding";
const defaultKValue = 1;

/** A SchedulingShard (`kai.scheduler/v1`) as a model record. */
export function decodeSchedulingShard(value: unknown): Decoded<KaiSchedulingShard> {
  return decodeObject("SchedulingShard", value, (object, meta) => {
    const spec = child(object, "spec");
    const usage = usageOf(spec);
    return {
      name: meta.name,
      partitionLabelValue: optionalName(spec, "partitionLabelValue"),
      kValue: number(spec, "kValue") ?? (usage === null ? null : defaultKValue),
      usage,
      createdAt: meta.createdAt,
    };
  });
}

/** The usage database; without a kind of client there is none. */
function usageOf(spec: Place): KaiSchedulingShard["usage"] {
  const config = child(spec, "usageDBConfig");
  if (nameText(config, "clientType") === "") return null;
  const params = child(config, "usageParams");
  const halfLife = duration(params, "halfLifePeriod") ?? 0;
  return {
    windowSeconds: has(params, "windowSize") ? (duration(params, "windowSize") ?? 0) : defaultWindowSeconds,
    windowType: optionalName(params, "windowType") ?? defaultWindowType,
    halfLifeSeconds: halfLife > 0 ? halfLife : null,
  };
}
