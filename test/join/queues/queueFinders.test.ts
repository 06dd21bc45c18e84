import { expect, it } from "vitest";
import { join } from "../../../exporter/join/join.ts";
import { createJoinCache } from "../../../exporter/join/joinCache.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiQueue } from "../../queues/groupRows.ts";
import { clusterQueue, localQueue, workload } from "../../queues/kueueRows.ts";
import { cluster, gpuNode, gpuPod, now } from "../clusterBuilder.ts";
import { defaultSettings } from "../outcomes.ts";

it("finds the queue of a pod again in a namespace with objects of Kueue where only the queues of KAI have changed", () => {
  const first = cluster({
    nodes: [gpuNode("n1", 8)],
    pods: [gpuPod("p", "n1", 1, { schedulerName: "kai-scheduler", labels: { project: "lab" } })],
    queues: {
      ...noQueueObjects,
      kueueClusterQueues: [clusterQueue("cq", [])],
      kueueLocalQueues: [localQueue("q", "cq")],
      kueueWorkloads: [workload("w", [])],
      kaiQueues: [kaiQueue("other")],
    },
  });
  const later = { ...first, queues: { ...first.queues, kaiQueues: [kaiQueue("other"), kaiQueue("lab")] } };
  const cache = createJoinCache();
  const queues = [first, later, first].map(
    (state) => join(state, emptyMemory, defaultSettings, now, cache).snapshot.workloads[0]?.queue,
  );
  expect(queues).toEqual([null, "lab", null]);
});
