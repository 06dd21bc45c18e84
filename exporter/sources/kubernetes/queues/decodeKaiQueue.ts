import type { KaiQueue, KaiQueueResource } from "../../../model/queues/kai.ts";
import { kaiNames } from "../../../model/wellKnown.ts";
import { type Decoded, decodeObject } from "../decoded.ts";
import { child, has, number, type Place } from "../fields.ts";
import { optionalAmounts, optionalName } from "./bounds.ts";
import { conditions } from "./conditions.ts";
import { duration } from "./duration.ts";
import { revisionOf } from "./revisionOf.ts";

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
