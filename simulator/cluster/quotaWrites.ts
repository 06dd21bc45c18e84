import type { JsonValue } from "../../exporter/model/recommendation.ts";
import { gpuResources } from "../../exporter/model/wellKnown.ts";
import { at, itemsAt, numberAt, textAt } from "../json.ts";
import type { ClusterQueueSpec, FlavorQuota, KaiQueueSpec, QueueingSpec, VolcanoQueueSpec } from "../queues/spec.ts";

/** An object of a queue system that someone wrote. */
export interface WrittenQueue {
  readonly system: "kueue" | "kai" | "volcano";
  readonly kind: string;
  readonly name: string;
  /** The spec of the object. */
  readonly spec: JsonValue | undefined;
}

/** The rules of the queue systems after an object of theirs was written; the same rules if the object is not about queues. */
export function queueingAfter(queueing: QueueingSpec, { system, kind, name, spec }: WrittenQueue): QueueingSpec {
  const { kueue, kai, volcano } = queueing;
  const rewritten = <Queue extends { readonly name: string }>(
    queues: readonly Queue[],
    write: (queue: Queue) => Queue,
  ): readonly Queue[] => queues.map((queue) => (queue.name === name ? write(queue) : queue));
  if (system === "kueue" && kueue !== null && kind === "ClusterQueue") {
    const clusterQueues = rewritten(kueue.clusterQueues, (queue) => clusterQueue(queue, spec));
    return { ...queueing, kueue: { ...kueue, clusterQueues } };
  }
  if (system === "kueue" && kueue !== null && kind === "Cohort") {
    const cohorts = rewritten(kueue.cohorts, (cohort) => ({
      ...cohort,
      parent: textAt(spec, "parentName"),
      weight: numberAt(spec, "fairSharing", "weight") ?? 1,
      quotas: flavorQuotas(spec),
    }));
    return { ...queueing, kueue: { ...kueue, cohorts } };
  }
  if (system === "kai" && kai !== null && kind === "Queue") {
    return { ...queueing, kai: { ...kai, queues: rewritten(kai.queues, (queue) => kaiQueue(queue, spec)) } };
  }
  if (system === "volcano" && volcano !== null && kind === "Queue") {
    return {
      ...queueing,
      volcano: { ...volcano, queues: rewritten(volcano.queues, (queue) => volcanoQueue(queue, spec)) },
    };
  }
  return queueing;
}

function clusterQueue(queue: ClusterQueueSpec, spec: JsonValue | undefined): ClusterQueueSpec {
  const reclaim = textAt(spec, "preemption", "reclaimWithinCohort");
  return {
    ...queue,
    cohort: textAt(spec, "cohortName"),
    weight: numberAt(spec, "fairSharing", "weight") ?? 1,
    quotas: flavorQuotas(spec),
    strategy: textAt(spec, "queueingStrategy") === "StrictFIFO" ? "StrictFIFO" : "BestEffortFIFO",
    reclaimWithinCohort: reclaim === "Any" || reclaim === "LowerPriority" ? reclaim : "Never",
  };
}

function flavorQuotas(spec: JsonValue | undefined): readonly FlavorQuota[] {
  const flavors = itemsAt(spec, "resourceGroups").flatMap((group) => itemsAt(group, "flavors"));
  return flavors.flatMap((flavor) => {
    const gpus = itemsAt(flavor, "resources").find((resource) => textAt(resource, "name") === gpuResources.nvidia);
    const name = textAt(flavor, "name");
    if (gpus === undefined || name === null) return [];
    return {
      flavor: name,
      nominal: numberAt(gpus, "nominalQuota") ?? 0,
      borrowingLimit: numberAt(gpus, "borrowingLimit"),
      lendingLimit: numberAt(gpus, "lendingLimit"),
    };
  });
}

function kaiQueue(queue: KaiQueueSpec, spec: JsonValue | undefined): KaiQueueSpec {
  return {
    ...queue,
    parent: textAt(spec, "parentQueue"),
    priority: numberAt(spec, "priority") ?? queue.priority,
    quota: numberAt(spec, "resources", "gpu", "quota") ?? 0,
    limit: numberAt(spec, "resources", "gpu", "limit") ?? 0,
    overQuotaWeight: numberAt(spec, "resources", "gpu", "overQuotaWeight") ?? 0,
  };
}

function volcanoQueue(queue: VolcanoQueueSpec, spec: JsonValue | undefined): VolcanoQueueSpec {
  return {
    ...queue,
    weight: numberAt(spec, "weight") ?? 1,
    guarantee: numberAt(spec, "guarantee", "resource", gpuResources.nvidia),
    deserved: numberAt(spec, "deserved", gpuResources.nvidia),
    capability: numberAt(spec, "capability", gpuResources.nvidia),
    reclaimable: at(spec, "reclaimable") !== false,
  };
}
