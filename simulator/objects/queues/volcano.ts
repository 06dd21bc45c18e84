import { gpuResources } from "../../../exporter/model/wellKnown.ts";
import { wantedPods } from "../../cluster/owners.ts";
import type { Workload, World } from "../../cluster/world.ts";
import { askedGpus } from "../../queues/membership.ts";
import type { QueueingSpec, VolcanoQueueSpec } from "../../queues/spec.ts";
import { sumByQueue } from "../../queues/volcanoRules.ts";
import { uuidFrom } from "../../random.ts";
import { type KindedObject, timestamp } from "../kubeObject.ts";
import { podGroupMetadata } from "./identity.ts";

/** All objects of Volcano, as they are now. */
export function volcanoObjects(
  world: World,
  { queues }: NonNullable<QueueingSpec["volcano"]>,
): readonly KindedObject[] {
  const all = [...world.workloads].filter(
    (each) => each.system === "volcano" && each.endedTime === null && wantedPods(each) > 0,
  );
  const allocated = sumByQueue(all.filter(({ pods }) => pods.some(({ node }) => node !== null)));
  const creationTimestamp = timestamp(world.nodes[0]?.createdAt ?? 0);
  return [
    ...queues.map((queue) => ({
      kind: "volcano/Queue",
      object: {
        metadata: { name: queue.name, uid: uuidFrom(`volcano-queue/${queue.name}`), creationTimestamp },
        spec: queueSpec(queue),
        status: {
          state: "Open",
          allocated: { [gpuResources.nvidia]: String(allocated.get(queue.name) ?? 0) },
          reservation: {},
        },
      },
    })),
    ...all.map(podGroup),
  ];
}

function queueSpec({ weight, guarantee, deserved, capability, reclaimable }: VolcanoQueueSpec): object {
  const amount = (gpus: number) => ({ [gpuResources.nvidia]: String(gpus) });
  return {
    weight,
    reclaimable,
    ...(guarantee === null ? {} : { guarantee: { resource: amount(guarantee) } }),
    ...(deserved === null ? {} : { deserved: amount(deserved) }),
    ...(capability === null ? {} : { capability: amount(capability) }),
  };
}

function podGroup(workload: Workload): KindedObject {
  const { spec, pods, admittedAt } = workload;
  const running = pods.filter(({ phase }) => phase === "Running").length;
  const bound = pods.filter(({ node }) => node !== null).length;
  const phase = bound > 0 ? "Running" : admittedAt === null ? "Pending" : "Inqueue";
  return {
    kind: "volcano/PodGroup",
    object: {
      metadata: podGroupMetadata(workload),
      spec: {
        queue: spec.queue,
        minMember: spec.gang || spec.needsAll === true ? spec.pods : 1,
        minResources: { [gpuResources.nvidia]: String(askedGpus(spec)) },
        ...(spec.priorityClass === null ? {} : { priorityClassName: spec.priorityClass }),
      },
      status: { phase, running },
    },
  };
}
