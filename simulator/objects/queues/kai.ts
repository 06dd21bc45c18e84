import { gpuResources } from "../../../exporter/model/wellKnown.ts";
import { wantedPods } from "../../cluster/owners.ts";
import type { Workload, World } from "../../cluster/world.ts";
import { allocatedByQueue } from "../../queues/kaiRules.ts";
import { askedGpus } from "../../queues/membership.ts";
import type { KaiHistorySpec, QueueingSpec } from "../../queues/spec.ts";
import { uuidFrom } from "../../random.ts";
import { annotationsField, type KindedObject, labelsField, timestamp } from "../kubeObject.ts";
import { podGroupMetadata } from "./identity.ts";

/** Label of nodes and pod groups by which KAI partitions a cluster. */
export const nodePoolLabel = "kai.scheduler/node-pool";

/** All objects of KAI, as they are now. */
export function kaiObjects(
  world: World,
  { nodePool, queues, history }: NonNullable<QueueingSpec["kai"]>,
): readonly KindedObject[] {
  const all = [...world.workloads].filter(
    (each) => each.system === "kai" && each.endedTime === null && wantedPods(each) > 0,
  );
  const allocated = allocatedByQueue(
    queues,
    all.filter(({ admittedAt }) => admittedAt !== null),
  );
  const requested = allocatedByQueue(queues, all);
  const creationTimestamp = timestamp(world.nodes[0]?.createdAt ?? 0);
  // KAI selects the queues of a shard by the same label as its nodes.
  const inShard = labelsField(nodePool === null ? {} : { [nodePoolLabel]: nodePool });
  const unlimited = { quota: -1, limit: -1, overQuotaWeight: 1 };
  return [
    {
      kind: "kai/SchedulingShard",
      object: {
        metadata: { name: nodePool ?? "default", uid: uuidFrom(`shard/${nodePool}`), creationTimestamp },
        spec: { ...(nodePool === null ? {} : { partitionLabelValue: nodePool }), ...usageDatabase(history) },
      },
    },
    ...queues.map((queue) => ({
      kind: "kai/Queue",
      object: {
        metadata: { name: queue.name, uid: uuidFrom(`kai-queue/${queue.name}`), creationTimestamp, ...inShard },
        spec: {
          ...(queue.parent === null ? {} : { parentQueue: queue.parent }),
          priority: queue.priority,
          resources: {
            gpu: { quota: queue.quota, limit: queue.limit, overQuotaWeight: queue.overQuotaWeight },
            cpu: unlimited,
            memory: unlimited,
          },
        },
        status: {
          childQueues: queues.filter(({ parent }) => parent === queue.name).map(({ name }) => name),
          allocated: { [gpuResources.nvidia]: String(allocated.get(queue.name) ?? 0) },
          requested: { [gpuResources.nvidia]: String(requested.get(queue.name) ?? 0) },
        },
      },
    })),
    ...all.map((workload) => podGroup(workload, nodePool)),
  ];
}

/** Settings of time-based fairshare, as a SchedulingShard has them. */
function usageDatabase(history: KaiHistorySpec | undefined): object {
  if (history === undefined) return {};
  const usageParams = {
    windowSize: `${history.windowSeconds}s`,
    windowType: "sliding",
    halfLifePeriod: `${history.halfLifeSeconds}s`,
  };
  return { kValue: history.kValue, usageDBConfig: { clientType: "prometheus", usageParams } };
}

function podGroup(workload: Workload, nodePool: string | null): KindedObject {
  const { spec, admittedAt, eviction } = workload;
  const gpus = { [gpuResources.nvidia]: String(askedGpus(spec)) };
  const starts = workload.pods.map(({ startedAt }) => startedAt);
  const startedAt = starts.every((at) => at !== null) ? Math.max(0, ...starts) : 0;
  return {
    kind: "kai/PodGroup",
    object: {
      metadata: {
        ...podGroupMetadata(workload),
        ...labelsField(nodePool === null ? {} : { [nodePoolLabel]: nodePool }),
        ...annotationsField({
          ...(startedAt > 0 ? { "kai.scheduler/last-start-timestamp": timestamp(startedAt) } : {}),
          ...(eviction === null ? {} : { "kai.scheduler/last-eviction-timestamp": timestamp(eviction.at) }),
        }),
      },
      spec: {
        queue: spec.queue,
        minMember: spec.gang || spec.needsAll === true ? spec.pods : 1,
        ...(spec.priorityClass === null ? {} : { priorityClassName: spec.priorityClass }),
      },
      status: { resourcesStatus: { requested: gpus, allocated: admittedAt === null ? {} : gpus } },
    },
  };
}
