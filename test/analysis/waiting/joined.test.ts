import { describe, expect, it } from "vitest";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { gpuNode, gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { localQueue } from "../../queues/kueueRows.ts";
import {
  clusterQueue,
  flavor,
  gpuQuota,
  kaiPodGroup,
  kaiQueue,
  kueuePodSet,
  kueueWorkload,
} from "../queueObjectBuilder.ts";

const nodes = [gpuNode("n", 8)];

describe("a snapshot that was joined", () => {
  it("explains pods that wait without any queue system", () => {
    const pods = [
      gpuPod("allocated", "n", 6),
      gpuPod("small", null, 2),
      gpuPod("large", null, 3),
      gpuPod("huge", null, 9),
    ];
    const { snapshot, waiting } = analysed(snapshotOf({ nodes, pods }));
    const causes = new Map(waiting.work.map(({ gang, cause }) => [snapshot.queueing.gangs[gang]?.name, cause]));
    expect(causes).toEqual(
      new Map([
        ["small", "scheduler"],
        ["large", "capacity"],
        ["huge", "constraint"],
      ]),
    );
  });

  it("explains Workloads of Kueue, whose pods do not exist yet", () => {
    const workload = (name: string, count: number, physicalGpus: number) =>
      kueueWorkload(name, {
        createdAt: now - 900,
        podSets: [kueuePodSet("main", count, { "nvidia.com/gpu": physicalGpus })],
      });
    const queues = {
      ...noQueueObjects,
      kueueClusterQueues: [clusterQueue("a", { quotas: [gpuQuota(6)] })],
      kueueLocalQueues: [localQueue("main", "a")],
      kueueResourceFlavors: [flavor("h100")],
      kueueWorkloads: [workload("fits", 2, 2), workload("never", 7, 1)],
    };
    const { snapshot, waiting, findings } = analysed(snapshotOf({ nodes, queues }));
    const causes = waiting.work.map(({ gang, cause }) => [snapshot.queueing.gangs[gang]?.name, cause]);
    expect(new Map(causes.map(([name, cause]) => [name, cause]))).toEqual(
      new Map([
        ["fits", "scheduler"],
        ["never", "quota"],
      ]),
    );
    expect(findings).toEqual([]);
  });

  it("finds gangs of KAI that hold GPUs and wait for each other", () => {
    const gang = (group: string) =>
      ["n", "n", null].map((node, i) =>
        gpuPod(`${group}-${i}`, node, 2, { annotations: { "pod-group-name": group }, schedulerName: "kai-scheduler" }),
      );
    const group = (name: string) => kaiPodGroup(name, { minMember: 3, queue: "vision" });
    const queues = { ...noQueueObjects, kaiQueues: [kaiQueue("vision")], kaiPodGroups: [group("a"), group("b")] };
    const { waiting, accountingEntries } = analysed(snapshotOf({ nodes, queues, pods: [...gang("a"), ...gang("b")] }));
    expect(waiting.partialGangs).toMatchObject([
      { id: "research/a", queue: "vision", bound: 2, min: 3, allocatedGpus: 4, missingGpus: 2 },
      { id: "research/b", bound: 2, min: 3, allocatedGpus: 4, missingGpus: 2 },
    ]);
    expect(waiting.deadlocks).toEqual([
      { pool: "H100-80GB-HBM3", gangs: ["research/a", "research/b"], allocatedGpus: 8, missingGpus: 4, freeGpus: 0 },
    ]);
    const waits = accountingEntries.list.filter(({ state }) => state === "gang_wait");
    expect(waits.reduce((sum, { gpus }) => sum + gpus, 0)).toBeCloseTo(8, 9);
  });

  it("finds guarantees above what is there", () => {
    const queues = {
      ...noQueueObjects,
      kueueClusterQueues: [clusterQueue("a", { quotas: [gpuQuota(12)] })],
      kueueLocalQueues: [localQueue("main", "a")],
      kueueResourceFlavors: [flavor("h100")],
      kueueWorkloads: [kueueWorkload("w")],
    };
    expect(analysed(snapshotOf({ nodes, queues })).findings.map(({ code }) => code)).toEqual(["quota-above-capacity"]);
  });
});
