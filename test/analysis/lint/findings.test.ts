import { describe, expect, it } from "vitest";
import type { FindingCode } from "../../../exporter/analysis/lint/finding.ts";
import { findings } from "../../../exporter/analysis/lint/findings.ts";
import type { KaiSchedulingShard } from "../../../exporter/model/queues/kai.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { localQueue } from "../../queues/kueueRows.ts";
import { moment, nodeView } from "../momentBuilder.ts";
import {
  clusterQueue,
  flavor,
  kaiPodGroup,
  kaiQueue,
  kueueWorkload,
  unlimited,
  volcanoPodGroup,
  volcanoQueue,
} from "../queueObjectBuilder.ts";
import { found, kueueSettings as kueue, lint } from "./lint.ts";

const byUsage = { admissionMode: "UsageBasedAdmissionFairSharing" };

describe("a set-up in which nothing is wrong", () => {
  it("gives no finding", () => {
    const objects = {
      kueueClusterQueues: [clusterQueue("a", { cohort: "all", ...byUsage }), clusterQueue("b", { cohort: "all" })],
      kueueLocalQueues: [localQueue("main", "a"), localQueue("b", "b")],
      kueueResourceFlavors: [flavor("h100", { nodeLabels: { gpu: "h100" } })],
      kueueWorkloads: [kueueWorkload("w")],
      kaiQueues: [
        kaiQueue("top", { gpu: { quota: 16, overQuotaWeight: 1, limit: -1 } }),
        kaiQueue("vision", { parent: "top" }),
      ],
      kaiPodGroups: [kaiPodGroup("p")],
      volcanoQueues: [volcanoQueue("default", { deserved: { "nvidia.com/gpu": 4 } })],
      volcanoPodGroups: [volcanoPodGroup("p")],
    };
    const nodes = [nodeView({ labels: { gpu: "h100" } })];
    expect(lint(objects, { ...kueue({}), volcano: { plugin: "capacity" } }, nodes)).toEqual([]);
  });
});

describe("Volcano", () => {
  const gpus = (n: number) => ({ "nvidia.com/gpu": n });
  const proportion = { volcano: { plugin: "proportion" } } as const;
  const capacity = { volcano: { plugin: "capacity" } } as const;

  it("deserved amounts under plugin proportion", () => {
    const volcanoQueues = [
      volcanoQueue("a", { deserved: gpus(4) }),
      volcanoQueue("same", { deserved: gpus(4), guarantee: gpus(4) }),
      volcanoQueue("cpu", { deserved: { cpu: 4 } }),
    ];
    expect(found("volcano-deserved-ignored", { volcanoQueues }, proportion)).toEqual(["Queue a"]);
    expect(found("volcano-deserved-ignored", { volcanoQueues }, capacity)).toEqual([]);
    expect(found("volcano-deserved-ignored", { volcanoQueues })).toEqual([]);
  });

  it("a plugin that was guessed, with the sign and what makes it known", () => {
    const volcanoQueues = [volcanoQueue("a", { weight: 4, deserved: gpus(8) }), volcanoQueue("b", { parent: "a" })];
    const guessedFrom = { queue: "a", field: "spec.deserved", value: "8 nvidia.com/gpu", queues: 2 } as const;
    const all = lint({ volcanoQueues }, { volcano: { plugin: "capacity", guessedFrom } });
    // Nothing is held against its queues that rests on the guess.
    expect(all.map(({ code, kind, name }) => [code, kind, name])).toEqual([
      ["volcano-plugin-guessed", "Configuration", "volcano"],
    ]);
    expect(all[0]?.reason).toContain("taken to be capacity, because Queue a has spec.deserved 8 nvidia.com/gpu");
    expect(all[0]?.reason).toContain("1 other queue says such things");
    expect(all[0]?.change).toContain("queues.volcano.plugin");
    expect(all[0]?.change).toContain("queues.volcano.configMap");
    expect(found("volcano-plugin-guessed", { volcanoQueues }, capacity)).toEqual([]);
    expect(found("volcano-plugin-guessed", { volcanoQueues }, proportion)).toEqual([]);
  });

  it("weights under plugin capacity", () => {
    const volcanoQueues = [volcanoQueue("a", { weight: 4 }), volcanoQueue("b"), volcanoQueue("root", { weight: 9 })];
    expect(found("volcano-weight-ignored", { volcanoQueues }, capacity)).toEqual(["Queue a"]);
    expect(found("volcano-weight-ignored", { volcanoQueues }, proportion)).toEqual([]);
  });

  it("queues beside others that keep what they borrow", () => {
    const keeping = volcanoQueue("a", { reclaimable: false });
    expect(found("volcano-keeps-surplus", { volcanoQueues: [keeping, volcanoQueue("b")] })).toEqual(["Queue a"]);
    expect(found("volcano-keeps-surplus", { volcanoQueues: [keeping, volcanoQueue("root")] })).toEqual([]);
    expect(found("volcano-keeps-surplus", { volcanoQueues: [volcanoQueue("a"), volcanoQueue("b")] })).toEqual([]);
  });

  it("work in a closed queue", () => {
    const volcanoQueues = [volcanoQueue("a", { state: "Closed" }), volcanoQueue("b", { state: "Closing" })];
    const waiting = [volcanoPodGroup("p", { queue: "a" }), volcanoPodGroup("r", { queue: "b", phase: "Running" })];
    expect(found("volcano-queue-closed", { volcanoQueues, volcanoPodGroups: waiting })).toEqual(["Queue a"]);
    expect(found("volcano-queue-closed", { volcanoQueues })).toEqual([]);
  });
});

describe("KAI", () => {
  const gpu = (quota: number, overQuotaWeight: number, limit: number) => ({ gpu: { quota, overQuotaWeight, limit } });
  const lintOf = (code: FindingCode, ...kaiQueues: QueueObjects["kaiQueues"]) => found(code, { kaiQueues });

  it("a limit of 0, which is no absence of a limit", () => {
    const code = "kai-limit-zero";
    expect(lintOf(code, kaiQueue("a", gpu(8, 1, 0)))).toEqual(["Queue a"]);
    expect(lintOf(code, kaiQueue("a", gpu(8, 1, -1)), kaiQueue("b", gpu(2, 1, 4)))).toEqual([]);
    expect(lintOf(code, kaiQueue("no-gpus", { gpu: null, cpu: unlimited }))).toEqual([]);
    expect(lintOf(code, kaiQueue("no-gpus", gpu(0, 0, 0)))).toEqual([]);
  });

  it("a limit of 0 of what every pod asks for besides", () => {
    const [finding] = lint({ kaiQueues: [kaiQueue("a", { cpu: null, memory: { ...unlimited, limit: 0 } })] });
    expect(finding).toMatchObject({ code: "kai-limit-zero", name: "a" });
    expect(finding?.change).toContain("spec.resources.cpu.limit and spec.resources.memory.limit of Queue a to -1");
  });

  it("a limit of 0 above queues with GPUs", () => {
    const kaiQueues = [kaiQueue("top", { gpu: null }), kaiQueue("a", { parent: "top" })];
    expect(found("kai-limit-zero", { kaiQueues })).toEqual(["Queue top"]);
  });

  it("a weight of 0 where the limit allows more than the quota", () => {
    const code = "kai-no-surplus";
    expect(lintOf(code, kaiQueue("a", gpu(8, 0, -1)), kaiQueue("b", gpu(8, 0, 16)))).toEqual(["Queue a", "Queue b"]);
    expect(lintOf(code, kaiQueue("a", gpu(8, 1, -1)), kaiQueue("b", gpu(8, 0, 8)))).toEqual([]);
    expect(lintOf(code, kaiQueue("all", gpu(-1, 0, -1)), kaiQueue("none", gpu(8, 0, 0)))).toEqual([]);
  });

  it("a queue whose parent its scheduler does not see", () => {
    const code = "kai-queue-orphan";
    expect(lintOf(code, kaiQueue("a", { parent: "top" }))).toEqual(["Queue a"]);
    expect(lintOf(code, kaiQueue("a", { parent: "top" }), kaiQueue("top"))).toEqual([]);
    expect(lintOf(code, kaiQueue("a", { parent: "top", nodePool: "x" }), kaiQueue("top"))).toEqual(["Queue a"]);
  });

  it("queues that are promised more than their parent", () => {
    const code = "kai-quota-above-parent";
    const children = [
      kaiQueue("a", { parent: "top", ...gpu(6, 1, -1) }),
      kaiQueue("b", { parent: "top", ...gpu(6, 1, -1) }),
    ];
    expect(lintOf(code, kaiQueue("top", gpu(8, 1, -1)), ...children)).toEqual(["Queue top"]);
    expect(lintOf(code, kaiQueue("top", gpu(12, 1, -1)), ...children)).toEqual([]);
    expect(lintOf(code, kaiQueue("top", gpu(-1, 1, -1)), ...children)).toEqual([]);
  });
});

describe("time-based fairshare of KAI", () => {
  const usage = { windowSeconds: 7200, windowType: "sliding", halfLifeSeconds: 3600 };
  const shard = (parts: Partial<KaiSchedulingShard> = {}): KaiSchedulingShard => ({
    name: "default",
    partitionLabelValue: null,
    kValue: 0.5,
    usage,
    createdAt: null,
    ...parts,
  });
  const code = "kai-history-ignored";
  const kaiQueues = [kaiQueue("vision"), kaiQueue("language", { nodePool: "a100" })];
  const inShards = (...kaiSchedulingShards: readonly KaiSchedulingShard[]) => ({ kaiQueues, kaiSchedulingShards });

  it("that the entitlement knows nothing of is found, with the settings that change that", () => {
    const all = lint(inShards(shard(), shard({ name: "a100", partitionLabelValue: "a100" })));
    expect(all.map(({ code: own, kind, name }) => [own, kind, name])).toEqual([
      [code, "SchedulingShard", "a100"],
      [code, "SchedulingShard", "default"],
    ]);
    expect(all[0]?.reason).toContain("a sliding window of 7200 s with a half-life of 3600 s, kValue 0.5");
    expect(all[0]?.change).toContain("enabled: true, windowSeconds: 7200, halfLifeSeconds: 3600 and kValue: 0.5");
  });

  it("is not found where past use counts, here or in KAI nowhere", () => {
    const history = { usage: new Map(), kValue: 0.5 };
    const snapshot = { ...moment({ nodes: [nodeView()] }), queueObjects: { ...noQueueObjects, ...inShards(shard()) } };
    expect(findings(snapshot, null).map((finding) => finding.code)).toEqual([code]);
    expect(findings(snapshot, history)).toEqual([]);
    expect(found(code, inShards(shard({ usage: null, kValue: null })))).toEqual([]);
    expect(found(code, inShards(shard({ kValue: 0 })))).toEqual([]);
    expect(found(code, inShards(shard({ partitionLabelValue: "no-queues" })))).toEqual([]);
  });

  it("without decay is a finding", () => {
    const [finding] = lint(inShards(shard({ usage: { ...usage, halfLifeSeconds: null } })));
    expect(finding?.reason).toContain("with no half-life");
    expect(finding?.change).toContain("halfLifeSeconds: 31536000 (this shard does not let use decay)");
  });
});

describe("a queue that work names and nobody made", () => {
  it("is one finding, whoever names it how often", () => {
    const objects: Partial<QueueObjects> = {
      kueueClusterQueues: [clusterQueue("a")],
      kueueLocalQueues: [localQueue("main", "a"), localQueue("lost", "gone")],
      kueueWorkloads: [
        kueueWorkload("w1", { localQueue: "mian" }),
        kueueWorkload("w2", { localQueue: "mian" }),
        kueueWorkload("w3"),
      ],
      kaiQueues: [kaiQueue("vision")],
      kaiPodGroups: [kaiPodGroup("p"), kaiPodGroup("q", { queue: "vison" })],
      volcanoQueues: [volcanoQueue("default")],
      volcanoPodGroups: [
        volcanoPodGroup("p"),
        volcanoPodGroup("q", { queue: "x" }),
        volcanoPodGroup("r", { queue: "y", phase: "Completed" }),
      ],
    };
    expect(found("queue-unknown", objects)).toEqual([
      "Queue vison",
      "ClusterQueue gone",
      "LocalQueue research/mian",
      "Queue x",
    ]);
    const mian = lint(objects).find(({ name }) => name === "research/mian");
    expect(mian?.reason).toContain("2 Workloads (research/w1 first)");
  });

  it("is not reported where no queue could be read", () => {
    expect(found("queue-unknown", { kaiPodGroups: [kaiPodGroup("p")], kueueWorkloads: [kueueWorkload("w")] })).toEqual(
      [],
    );
  });
});

describe("a finding", () => {
  it("says what fixes it", () => {
    const all = lint({
      kaiQueues: [kaiQueue("a", { parent: "top", gpu: { quota: 8, overQuotaWeight: 0, limit: -1 } })],
    });
    expect(all).toHaveLength(2);
    for (const { reason, change } of all) {
      expect(reason).toMatch(/\.$/);
      expect(change).toMatch(/\.$/);
    }
  });
});
