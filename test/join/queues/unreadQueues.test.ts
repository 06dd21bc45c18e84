import { describe, expect, it } from "vitest";
import type { ClusterState, ObjectKind } from "../../../exporter/model/cluster.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue, kaiShard } from "../../queues/groupRows.ts";
import { clusterQueue, flavor, localQueue, quota } from "../../queues/kueueRows.ts";
import { gfdLabels, gpuNode, gpuPod } from "../clusterBuilder.ts";
import { analysed, codes, snapshotOf } from "../outcomes.ts";

const product = { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" };
const kueue: QueueObjects = {
  ...noQueueObjects,
  kueueResourceFlavors: [flavor("h100", product)],
  kueueClusterQueues: [clusterQueue("cq", [quota("h100", 8)])],
  kueueLocalQueues: [localQueue("q", "cq")],
};
const inQueue = { labels: { "kueue.x-k8s.io/cluster-queue-name": "cq" } };
const moment: Partial<ClusterState> = {
  nodes: [gpuNode("n", 8)],
  pods: [gpuPod("runs", "n", 3, inQueue), gpuPod("waits", null, 2, inQueue)],
  queues: kueue,
};
const without = (...kinds: readonly ObjectKind[]): Partial<ClusterState> => ({ ...moment, unreadable: new Set(kinds) });

describe.each([
  "nodes",
  "pods",
  "kueueClusterQueues",
  "kueueLocalQueues",
  "kueueCohorts",
  "kueueResourceFlavors",
  "kueueWorkloads",
  "kaiQueues",
  "kaiPodGroups",
  "kaiSchedulingShards",
  "volcanoQueues",
  "volcanoPodGroups",
] as const)("where %s cannot be read", (kind) => {
  const snapshot = snapshotOf(without(kind));

  it("no queue is reported, neither a scheduler's nor a team's, and a problem says why", () => {
    expect(snapshot.queueing.queues).toEqual([]);
    expect([...snapshot.queueing.queueOfPod]).toEqual([-1, -1]);
    expect(snapshot.queueing.domains.map(({ unknownBecause }) => unknownBecause)).toEqual([
      expect.stringContaining(kind),
    ]);
    expect(codes(snapshot)).toContain("queues-unknown");
  });

  it("who holds and what waits is reported all the same, and there are no findings", () => {
    const { fairness, findings, waiting, teams } = analysed(snapshot);
    expect(fairness).toMatchObject({ queues: [], domains: [null], teams: [] });
    expect(findings).toEqual([]);
    expect(teams.map(({ allocated }) => allocated)).toEqual([3]);
    expect(waiting.work).toHaveLength(1);
    expect(snapshot.queueing.gangs).toMatchObject([{ gpus: 2, never: null }]);
  });
});

it("what a dump does not have was not asked for, and makes nothing unknown", () => {
  const { queueing, problems } = snapshotOf({ ...moment, known: new Set(["nodes", "pods", "namespaces"]) });
  expect(queueing.queues.find(({ name }) => name === "cq")).toMatchObject({ allocated: 3, pending: 2 });
  expect(problems.map(({ code }) => code)).not.toContain("queues-unknown");
});

it("without ResourceQuotas, what teams are entitled to is unknown only where teams are the queues", () => {
  const unknownIn = (state: Partial<ClusterState>) =>
    snapshotOf({ ...state, unreadable: new Set(["resourceQuotas"]) }).queueing.domains.map((one) => one.unknownBecause);
  expect(unknownIn(moment)).toEqual([null]);
  expect(unknownIn({ ...moment, queues: noQueueObjects })).toEqual(["ResourceQuotas cannot be read"]);
});

it("work of a KAI shard waits in its queue there, whatever other nodes its pods could run on", () => {
  const label = { "kai.scheduler/node-pool": "shard" };
  const { queueing } = snapshotOf({
    nodes: [
      gpuNode("a", 8, { labels: gfdLabels(8, "NVIDIA-A100-SXM4-80GB") }),
      gpuNode("h", 8, { labels: { ...gfdLabels(8), ...label } }),
    ],
    pods: [
      gpuPod("other", "a", 1),
      gpuPod("waits", null, 2, {
        schedulerName: "kai-scheduler",
        annotations: { "pod-group-name": "g" },
        labels: { "kai.scheduler/queue": "project" },
      }),
    ],
    queues: {
      ...noQueueObjects,
      kaiQueues: [kaiQueue("project", { nodePool: "shard" })],
      kaiPodGroups: [kaiGroup("g", "project", { nodePool: "shard", namespace: "default", minMember: 1 })],
      kaiSchedulingShards: [kaiShard("shard", "shard")],
    },
  });
  const [gang] = queueing.gangs;
  expect(gang?.parts.map(({ queue }) => queueing.queues[queue ?? -1]?.name)).toEqual(["project"]);
  expect(queueing.queues.find(({ name }) => name === "project")).toMatchObject({ pending: 2 });
  expect(queueing.queues.filter(({ scheduler }) => scheduler === "none").map(({ pending }) => pending)).not.toContain(
    2,
  );
});
