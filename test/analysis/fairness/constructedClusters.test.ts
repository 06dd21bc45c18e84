import { describe, expect, it } from "vitest";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { gpuPod, now } from "../../join/clusterBuilder.ts";
import { analysed, snapshotOf } from "../../join/outcomes.ts";
import { kaiGroup, kaiQueue, kaiShard } from "../../queues/groupRows.ts";
import {
  analysedKueue,
  type KueueCluster,
  modelNode,
  ownersOf,
  pairsOf,
  type Running,
  reportedOf,
} from "./constructedCluster.ts";

// Clusters whose truth no administrator of these schedulers would dispute; each says it in a sentence.

const reserved = { "capacity/type": "reserved" };
const spot = { "capacity/type": "spot" };
const reservedNode = (name: string, gpus = 8) => modelNode(name, gpus, "H100", reserved);
const spotNode = (name: string, gpus = 8) => modelNode(name, gpus, "H100", spot);
const runs = (name: string, queue: string, flavor: string, node: string, gpus = 8, priority = 0): Running => ({
  ...{ name, queue, flavor, node, gpus, priority },
});

describe("two flavors of one GPU model", () => {
  const base: KueueCluster = {
    nodes: [reservedNode("r1"), spotNode("s1")],
    flavors: { reserved, spot },
    queues: {
      a: { quotas: { reserved: 4 } },
      b: { quotas: { spot: 4 } },
      c: { quotas: { reserved: 4, spot: 4 } },
    },
    running: [runs("b1", "b", "spot", "s1", 8), runs("c1", "c", "reserved", "r1", 8)],
    waiting: [{ name: "a-waits", queue: "a", gpus: 4 }],
  };

  it("a queue of reserved nodes is short because of who borrows reserved ones, not of who borrows spot ones", () => {
    const reported = analysedKueue(base);
    expect(pairsOf(reported)).toEqual(["a < c: 4"]);
    expect(reportedOf(reported, "a")).toMatchObject({ entitled: 4, deviation: -4, borrowers: 4, idle: 0 });
    expect(reportedOf(reported, "b")).toMatchObject({ allocated: 8, deviation: 0 });
  });

  it("spot nodes that are free are no idle gap of a queue that may not use them, and its work waits for capacity", () => {
    const reported = analysedKueue({ ...base, running: [runs("c1", "c", "reserved", "r1", 8)] });
    expect(reportedOf(reported, "a")).toMatchObject({ shortfall: 4, borrowers: 4, idle: 0 });
    expect(reported.waiting.work.map(({ cause }) => cause)).not.toContain("scheduler");
  });

  it("a gang of 6 is no demand where no flavor has more than 4", () => {
    const reported = analysedKueue({
      ...base,
      nodes: [reservedNode("r1", 4), spotNode("s1", 4)],
      queues: { a: { quotas: { reserved: 4, spot: 4 } } },
      running: [],
      waiting: [{ name: "gang", queue: "a", gpus: 1, pods: 6 }],
    });
    expect(reportedOf(reported, "a")).toMatchObject({ entitled: 0, shortfall: 0 });
    expect(reported.snapshot.queueing.gangs.map(({ never }) => never)).toEqual(["above-limit"]);
  });

  it("work that may use both gets what is free in the later one before anybody is blamed in the earlier one", () => {
    const reported = analysedKueue({
      ...base,
      queues: { ...base.queues, a: { quotas: { reserved: 4, spot: 0 } }, b: { quotas: { spot: 8 } } },
      running: [runs("c1", "c", "reserved", "r1", 8)],
    });
    expect(pairsOf(reported)).toEqual([]);
    expect(reportedOf(reported, "a")).toMatchObject({ shortfall: 4, idle: 4, borrowers: 0 });
  });
});

describe("a queue whose own quota is in a later flavor", () => {
  const flavors = { a100: { physicalGpu: "a100" }, h100: { physicalGpu: "h100" } };
  const nodes = [modelNode("a1", 8, "A100", flavors.a100), modelNode("h1", 8, "H100", flavors.h100)];

  it("is short of what another queue borrows there", () => {
    const reported = analysedKueue({
      ...{ nodes, flavors },
      queues: { own: { quotas: { a100: 0, h100: 8 } }, b: { quotas: { h100: 0 } }, c: { quotas: { a100: 8 } } },
      running: [runs("c1", "c", "a100", "a1"), runs("b1", "b", "h100", "h1")],
      waiting: [{ name: "waits", queue: "own", gpus: 8 }],
    });
    expect(pairsOf(reported)).toEqual(["own < b: 8"]);
    expect(reportedOf(reported, "own")).toMatchObject({ deviation: -8, borrowers: 8 });
    expect(reportedOf(reported, "c")).toMatchObject({ deviation: 0 });
  });

  it("is short of GPUs that are free where they are, and of what another borrows where that is", () => {
    const reported = analysedKueue({
      ...{ nodes, flavors },
      queues: { own: { quotas: { a100: 8, h100: 8 } }, b: { quotas: { h100: 0 } } },
      running: [runs("b1", "b", "h100", "h1")],
      waiting: [
        { name: "waits", queue: "own", gpus: 8 },
        { name: "waits-too", queue: "own", gpus: 8 },
      ],
    });
    expect(pairsOf(reported)).toEqual(["own < b: 8"]);
    expect(reportedOf(reported, "own")).toMatchObject({ shortfall: 16, idle: 8, borrowers: 8, indivisible: 0 });
    expect(reported.fairness.domains.map((domain) => domain?.idleGap)).toEqual([8, 0]);
  });

  it("is short of all of it where its quota in the earlier flavor is used by itself", () => {
    const reported = analysedKueue({
      ...{ nodes, flavors },
      queues: { own: { quotas: { a100: 8, h100: 8 } }, b: { quotas: { h100: 0 } } },
      running: [runs("own1", "own", "a100", "a1"), runs("b1", "b", "h100", "h1")],
      waiting: [{ name: "waits", queue: "own", gpus: 8 }],
    });
    expect(pairsOf(reported)).toEqual(["own < b: 8"]);
    expect(reportedOf(reported, "own")).toMatchObject({ deviation: -8, borrowers: 8 });
  });

  it("a pod that selects the unlabelled flavor's node waits for that node, which is free", () => {
    const reported = analysedKueue({
      nodes: [modelNode("a1", 8, "A100", { gpu: "a100" }), modelNode("h1", 8, "H100", { gpu: "h100" })],
      flavors: { h100: { gpu: "h100" }, rest: {} },
      queues: { q: { quotas: { h100: 8, rest: 8 } } },
      waiting: [{ name: "waits", queue: "q", gpus: 8, needs: { nodeSelector: { gpu: "a100" } } }],
    });
    expect(reported.snapshot.queueing.gangs.map(({ never }) => never)).toEqual([null]);
    expect(reportedOf(reported, "q")).toMatchObject({ entitled: 8, shortfall: 8, idle: 8 });
  });
});

describe("guarantees that do not fit", () => {
  const flavors = { any: {} };
  const both = { a: { quotas: { any: 8 } }, b: { quotas: { any: 8 } } };
  const waiting = [{ name: "b-waits", queue: "b", gpus: 8, priority: 100 }];

  it("a node is lost: who holds exactly its guarantee is not over it, and the other's guarantee has lost its node", () => {
    const reported = analysedKueue({
      nodes: [modelNode("n1", 8, "H100"), modelNode("n2", 8, "H100", {}, { ready: false })],
      ...{ flavors, queues: both, waiting },
      running: [runs("a1", "a", "any", "n1")],
    });
    expect(reportedOf(reported, "a")).toMatchObject({ entitled: 8, deviation: 0 });
    expect(reportedOf(reported, "b")).toMatchObject({
      entitled: 0,
      deviation: 0,
      shortfall: 8,
      borrowers: 0,
      absent: 8,
    });
    expect(ownersOf(reported, "b")).toEqual({ lost_node: 8 });
    expect(pairsOf(reported)).toEqual([]);
    expect(reported.fairness.queues.every((queue) => (queue?.actionableShortfall ?? 0) === 0)).toBe(true);
  });

  it("pods past the queues hold a node", () => {
    const reported = analysedKueue({
      nodes: [modelNode("n1", 8, "H100"), modelNode("n2", 8, "H100")],
      ...{ flavors, queues: both, waiting },
      running: [runs("a1", "a", "any", "n1")],
      outside: [gpuPod("notebook", "n2", 8, { namespace: "elsewhere" })],
    });
    expect(reportedOf(reported, "a")).toMatchObject({ deviation: 0 });
    expect(ownersOf(reported, "b")).toEqual({ past_queues: 8 });
    expect(pairsOf(reported)).toEqual([]);
  });

  it("a node is still to come: work that has its quota waits for it", () => {
    const reservedQuota = { reason: "QuotaReserved", changedAt: now - 600 };
    const reported = analysedKueue({
      nodes: [modelNode("n1", 8, "H100")],
      ...{ flavors, queues: both },
      running: [runs("a1", "a", "any", "n1")],
      waiting: [
        {
          ...{ name: "b-waits", queue: "b", gpus: 8 },
          parts: {
            admission: {
              clusterQueue: "b",
              assignments: [
                { podSet: "main", count: 1, flavors: { "nvidia.com/gpu": "any" }, usage: { "nvidia.com/gpu": 8 } },
              ],
            },
            conditions: [{ type: "QuotaReserved", isTrue: true, message: "", ...reservedQuota }],
            checks: [{ name: "nodes", state: "Pending", message: "", changedAt: now - 600 }],
          },
        },
      ],
      more: { kueueAdmissionChecks: [{ name: "nodes", controllerName: "kueue.x-k8s.io/provisioning-request" }] },
    });
    expect(reportedOf(reported, "a")).toMatchObject({ deviation: 0 });
    expect(ownersOf(reported, "b")).toEqual({ node_to_come: 8 });
    expect(pairsOf(reported)).toEqual([]);
  });

  it("they are promised twice: nobody who is within his own is blamed", () => {
    const reported = analysedKueue({
      nodes: [modelNode("n1", 8, "H100")],
      ...{ flavors, queues: both, waiting },
      running: [runs("a1", "a", "any", "n1")],
    });
    expect(ownersOf(reported, "b")).toEqual({ promised_twice: 8 });
    expect(pairsOf(reported)).toEqual([]);
  });

  it("the twin: who holds more than its guarantee is paired, whatever is lost beside", () => {
    const reported = analysedKueue({
      nodes: [modelNode("n1", 8, "H100"), modelNode("n2", 8, "H100"), modelNode("n3", 8, "H100", {}, { ready: false })],
      ...{ flavors, queues: { ...both, c: { quotas: { any: 8 } } }, waiting },
      running: [runs("a1", "a", "any", "n1"), runs("a2", "a", "any", "n2")],
    });
    expect(pairsOf(reported)).toEqual(["b < a: 8"]);
  });
});

describe("what Kueue's settings leave where it is", () => {
  const cluster = (reclaim: string, priority: number, fairSharing: number | null = null): KueueCluster => ({
    nodes: [modelNode("n1", 8, "H100")],
    flavors: { any: {} },
    queues: {
      own: { quotas: { any: 8 }, reclaim, parts: { weightedShare: fairSharing } },
      b: { quotas: { any: 0 }, parts: { weightedShare: fairSharing } },
    },
    running: [runs("b1", "b", "any", "n1")],
    waiting: [{ name: "waits", queue: "own", gpus: 8, priority }],
  });
  const becauses = (reported: ReturnType<typeof analysedKueue>) =>
    reported.fairness.domains.flatMap((domain) => (domain?.heldBack ?? []).map(({ because }) => because));

  it("LowerPriority takes nothing where all work has one priority, and the policy is named", () => {
    const reported = analysedKueue(cluster("LowerPriority", 0));
    expect(pairsOf(reported)).toEqual([]);
    expect(becauses(reported)).toEqual([
      expect.stringContaining("reclaimWithinCohort of ClusterQueue own is LowerPriority"),
    ]);
    expect(reportedOf(reported, "own")).toMatchObject({ deviation: -8, borrowers: 8 });
  });

  it("the twin: it takes from lower priorities", () => {
    expect(pairsOf(analysedKueue(cluster("LowerPriority", 10)))).toEqual(["own < b: 8"]);
  });

  it("Never takes nothing, Any takes from equals", () => {
    const reported = analysedKueue(cluster("Never", 10));
    expect(pairsOf(reported)).toEqual([]);
    expect(becauses(reported)).toEqual([expect.stringContaining("reclaimWithinCohort of ClusterQueue own is Never")]);
    expect(pairsOf(analysedKueue(cluster("Any", 0)))).toEqual(["own < b: 8"]);
  });

  it("without fair sharing nothing is taken for more than the own quota", () => {
    const more = (share: number | null): KueueCluster => ({
      ...cluster("Any", 0, share),
      nodes: [modelNode("n1", 8, "H100"), modelNode("n2", 8, "H100")],
      queues: {
        own: { quotas: { any: 4 }, parts: { weightedShare: share } },
        b: { quotas: { any: 4 }, parts: { weightedShare: share } },
        lender: { quotas: { any: 8 }, parts: { weightedShare: share } },
      },
      running: [runs("own1", "own", "any", "n1", 4), runs("b1", "b", "any", "n1", 4), runs("b2", "b", "any", "n2", 8)],
      waiting: [{ name: "waits", queue: "own", gpus: 4 }],
    });
    expect(pairsOf(analysedKueue(more(null)))).toEqual([]);
    expect(becauses(analysedKueue(more(null)))).toEqual([expect.stringContaining("fair sharing is off")]);
    expect(pairsOf(analysedKueue(more(0)))).toEqual(["own < b: 4"]);
  });

  it("a queue without a cohort is owed nothing by others", () => {
    const reported = analysedKueue({
      ...cluster("Any", 0),
      queues: { own: { quotas: { any: 8 }, cohort: null }, b: { quotas: { any: 8 }, cohort: null } },
    });
    expect(pairsOf(reported)).toEqual([]);
  });

  it("a gang of 12 against a share of 8 starts nothing, and nobody is asked for anything", () => {
    const reported = analysedKueue({
      ...cluster("Any", 0),
      nodes: [modelNode("n1", 8, "H100"), modelNode("n2", 8, "H100")],
      queues: { own: { quotas: { any: 8 } }, b: { quotas: { any: 8 } } },
      running: [runs("b1", "b", "any", "n1"), runs("b2", "b", "any", "n2")],
      waiting: [{ name: "waits", queue: "own", gpus: 1, pods: 12 }],
    });
    expect(pairsOf(reported)).toEqual([]);
    expect(reported.fairness.queues.every((queue) => (queue?.actionableShortfall ?? 0) === 0)).toBe(true);
  });

  it("nobody is short where all that waits fits, and nobody is over where nothing waits", () => {
    const reported = analysedKueue({ ...cluster("Any", 0), waiting: [] });
    expect(reportedOf(reported, "b")).toMatchObject({ deviation: 0 });
    expect(pairsOf(reported)).toEqual([]);
  });
});

describe("KAI", () => {
  const label = "kai.scheduler/node-pool";
  const gpu = (quota: number, overQuotaWeight = 1) => ({ gpu: { quota, overQuotaWeight, limit: -1 } });
  const kaiPod = (name: string, queue: string, node: string | null, gpus: number) =>
    gpuPod(name, node, gpus, {
      labels: { "kai.scheduler/queue": queue },
      annotations: { "pod-group-name": name },
      schedulerName: "kai-scheduler",
    });
  const group = (name: string, queue: string, nodePool: string | null, gpus: number, allocated: boolean) =>
    kaiGroup(name, queue, {
      ...{ nodePool, requested: { "nvidia.com/gpu": gpus }, allocated: allocated ? { "nvidia.com/gpu": gpus } : {} },
      ...(allocated ? { lastStartAt: now - 3600 } : {}),
    });

  it("two shards of one model are shared apart: a queue of one is owed nothing by a queue of the other", () => {
    const reported = analysed(
      snapshotOf({
        nodes: [modelNode("d1", 8, "H100"), modelNode("x1", 8, "H100", { [label]: "x" })],
        pods: [
          kaiPod("run-d", "team-d", "d1", 4),
          kaiPod("run-x", "team-x", "x1", 8),
          kaiPod("wait-d", "other-d", null, 4),
        ],
        queues: {
          ...noQueueObjects,
          kaiSchedulingShards: [kaiShard("default", null), kaiShard("x", "x")],
          kaiQueues: [
            kaiQueue("team-d", gpu(4)),
            kaiQueue("other-d", gpu(4)),
            kaiQueue("team-x", { ...gpu(0), nodePool: "x" }),
          ],
          kaiPodGroups: [
            group("run-d", "team-d", null, 4, true),
            group("run-x", "team-x", "x", 8, true),
            group("wait-d", "other-d", null, 4, false),
          ],
        },
      }),
    );
    expect(pairsOf(reported)).toEqual([]);
    expect(reportedOf(reported, "other-d")).toMatchObject({ entitled: 4, shortfall: 4, idle: 4 });
    expect(reportedOf(reported, "team-x")).toMatchObject({ entitled: 8, deviation: 0 });
  });

  it("one shard over two models: who waits for H100 is owed nothing by who holds A100 alone", () => {
    const selects = { nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" } };
    const waits = gpuPod("wait", null, 8, {
      ...{ labels: { "kai.scheduler/queue": "starved" }, annotations: { "pod-group-name": "wait" }, ...selects },
    });
    const shape = (a100: number) =>
      analysed(
        snapshotOf({
          nodes: [modelNode("h1", 8, "H100"), modelNode("a1", 8, "A100"), modelNode("a2", 8, "A100")],
          pods: [
            kaiPod("run-h", "on-h100", "h1", 8),
            kaiPod("run-a", "on-a100", "a1", 8),
            ...(a100 > 8 ? [kaiPod("run-a2", "on-a100", "a2", 8)] : []),
            waits,
          ],
          queues: {
            ...noQueueObjects,
            kaiQueues: [kaiQueue("on-h100", gpu(0)), kaiQueue("on-a100", gpu(0)), kaiQueue("starved", gpu(8))],
            kaiPodGroups: [
              group("run-h", "on-h100", null, 8, true),
              group("run-a", "on-a100", null, 8, true),
              ...(a100 > 8 ? [group("run-a2", "on-a100", null, 8, true)] : []),
              group("wait", "starved", null, 8, false),
            ],
          },
        }),
      );
    for (const allocated of [8, 16]) {
      const reported = shape(allocated);
      expect(pairsOf(reported)).toEqual(["starved < on-h100: 8"]);
      expect(reportedOf(reported, "on-a100")).toMatchObject({ allocated, deviation: 0 });
    }
  });

  it("a guarantee is what the queue says, also where all guarantees are more than there is", () => {
    const reported = analysed(
      snapshotOf({
        nodes: [modelNode("n1", 4, "H100")],
        pods: [kaiPod("wait-a", "a", null, 16), kaiPod("wait-b", "b", null, 4)].map((pod) => ({ ...pod })),
        queues: {
          ...noQueueObjects,
          kaiQueues: [kaiQueue("a", gpu(16)), kaiQueue("b", gpu(4))],
          kaiPodGroups: [group("wait-a", "a", null, 16, false), group("wait-b", "b", null, 4, false)],
        },
      }),
    );
    expect(reported.snapshot.queueing.queues.find(({ name }) => name === "a")?.guaranteed).toBe(16);
  });
});

describe("teams without queues", () => {
  const pod = (name: string, namespace: string, node: string | null, gpus: number, priority: number) =>
    gpuPod(name, node, gpus, { namespace, priority });
  const of = (priority: number) =>
    analysed(
      snapshotOf({
        nodes: [modelNode("n1", 8, "H100")],
        pods: [pod("run", "busy", "n1", 8, 0), pod("wait", "hungry", null, 4, priority)],
      }),
    );

  it("owe each other nothing that Kubernetes would take: equal priorities stay", () => {
    expect(pairsOf(of(0))).toEqual([]);
    expect(reportedOf(of(0), "hungry")).toMatchObject({ deviation: -4, borrowers: 4 });
  });

  it("the twin: a lower priority is preempted", () => {
    expect(pairsOf(of(10))).toEqual(["hungry < busy: 4"]);
  });
});

describe("work that has its quota", () => {
  it("takes nothing back from anybody: Kueue has admitted it, and it waits for its nodes", () => {
    const reported = analysedKueue({
      nodes: [modelNode("n1", 8, "H100")],
      flavors: { any: {} },
      queues: { a: { quotas: { any: 8 } }, d: { quotas: { any: 0 } } },
      running: [runs("d1", "d", "any", "n1")],
      waiting: [
        {
          ...{ name: "a-waits", queue: "a", gpus: 8 },
          parts: {
            admission: {
              clusterQueue: "a",
              assignments: [
                { podSet: "main", count: 1, flavors: { "nvidia.com/gpu": "any" }, usage: { "nvidia.com/gpu": 8 } },
              ],
            },
            conditions: [
              { type: "QuotaReserved", isTrue: true, message: "", reason: "QuotaReserved", changedAt: now - 600 },
            ],
          },
        },
      ],
    });
    expect(pairsOf(reported)).toEqual([]);
    expect(reported.fairness.queues.every((queue) => (queue?.actionableShortfall ?? 0) === 0)).toBe(true);
  });
});
