import { describe, expect, it } from "vitest";
import {
  decodeKaiPodGroup,
  decodeKaiQueue,
  decodeSchedulingShard,
} from "../../../../exporter/sources/kubernetes/queues/decodeKai.ts";
import { capturedItems, capturedRow, recordOf, timeAt, valueAt } from "./capturedList.ts";

/** `500m` is half a GPU. */
const gpus = (quantity: string): number =>
  quantity.endsWith("m") ? Number(quantity.slice(0, -1)) / 1000 : Number(quantity);

const group = (parts: object): object => ({ metadata: { name: "g", namespace: "ns", uid: "u" }, ...parts });

describe("KAI's objects as KAI 0.12 writes them", () => {
  it("reads queues with their quota in KAI's units and their status in base units", () => {
    for (const object of capturedItems("kai-0.12/queues")) {
      const queue = recordOf(decodeKaiQueue(object));
      expect(queue).toMatchObject({
        parent: valueAt(object, "spec", "parentQueue") ?? null,
        gpu: valueAt(object, "spec", "resources", "gpu"),
        cpu: valueAt(object, "spec", "resources", "cpu"),
      });
      const requested = valueAt(object, "status", "requested", "nvidia.com/gpu");
      expect(queue.requested?.["nvidia.com/gpu"]).toBe(requested === undefined ? undefined : gpus(String(requested)));
    }
  });

  it("reads a group that runs", () => {
    const { row, object } = capturedRow("kai-0.12/podGroups", "pg-language-a-", decodeKaiPodGroup);
    expect(row).toMatchObject({
      queue: "language",
      minMember: valueAt(object, "spec", "minMember"),
      priorityClass: valueAt(object, "spec", "priorityClassName"),
      owner: { kind: "PyTorchJob", name: "language-a" },
      lastStartAt: timeAt(object, "metadata", "annotations", "kai.scheduler/last-start-timestamp"),
      lastEvictionAt: null,
      staleSince: null,
    });
    const allocated = String(valueAt(object, "status", "resourcesStatus", "allocated", "nvidia.com/gpu"));
    expect(row.allocated?.["nvidia.com/gpu"]).toBe(gpus(allocated));
  });

  it("reads why groups are not scheduled", () => {
    const groups = capturedItems("kai-0.12/podGroups").map((item) => recordOf(decodeKaiPodGroup(item)));
    const waiting = groups.filter(({ schedulingConditions }) => schedulingConditions.length > 0);
    expect(waiting.length).toBeGreaterThan(0);
    for (const { schedulingConditions } of waiting) {
      expect(schedulingConditions[0]).toMatchObject({ type: "UnschedulableOnNodePool", nodePool: "default" });
      expect(schedulingConditions[0]?.reasons[0]?.reason).toMatch(/^[A-Z]\w+$/);
    }
  });

  it("reads groups that hold parts of GPUs", () => {
    const groups = capturedItems("kai-0.12/fractions/podGroups").map((item) => recordOf(decodeKaiPodGroup(item)));
    const allocated = groups.map((entry) => entry.allocated?.["nvidia.com/gpu"] ?? 0);
    expect(allocated.some((amount) => amount > 0 && !Number.isInteger(amount))).toBe(true);
  });

  it("reads the shard", () => {
    expect(recordOf(decodeSchedulingShard(capturedItems("kai-0.12/schedulingShards")[0]))).toMatchObject({
      name: "default",
      partitionLabelValue: null,
      usage: null,
    });
  });
});

describe("a queue of KAI", () => {
  it("keeps a limit that is not set apart from a resource that is not there", () => {
    const spec = { resources: { gpu: { quota: 2 } }, preemptMinRuntime: "1h30m", reclaimMinRuntime: "90s" };
    const queue = recordOf(decodeKaiQueue({ metadata: { name: "q" }, spec }));
    expect(queue.gpu).toEqual({ quota: 2, overQuotaWeight: 0, limit: 0 });
    expect(queue.cpu).toBeNull();
    expect(queue.preemptMinRuntimeSeconds).toBe(5400);
    expect(queue.reclaimMinRuntimeSeconds).toBe(90);
  });

  it("holds fractions of GPUs", () => {
    const status = { allocated: { "nvidia.com/gpu": "500m" }, requested: { "nvidia.com/gpu": "1300m" } };
    const queue = recordOf(decodeKaiQueue({ metadata: { name: "q" }, status }));
    expect(queue.allocated).toEqual({ "nvidia.com/gpu": 0.5 });
    expect(queue.requested).toEqual({ "nvidia.com/gpu": 1.3 });
  });

  it("is of the node pool that the label in the settings names", () => {
    const queue = { metadata: { name: "q", labels: { "run.ai/pool": "h100", "kai.scheduler/node-pool": "a100" } } };
    expect(recordOf(decodeKaiQueue(queue)).nodePool).toBe("a100");
    expect(recordOf(decodeKaiQueue(queue, "run.ai/pool")).nodePool).toBe("h100");
  });
});

describe("the gang of a group of KAI", () => {
  const members = (spec: object): number => recordOf(decodeKaiPodGroup(group({ spec }))).minMember;
  const subGroups = [
    { name: "leader", minMember: 1 },
    { name: "workers" },
    { name: "rack-a", parent: "workers", minMember: 4 },
    { name: "rack-b", parent: "workers", minMember: 2 },
  ];

  it("is its minMember", () => expect(members({ minMember: 3, subGroups })).toBe(3));
  it("is one pod where nothing says", () => expect(members({})).toBe(1));
  it("is what all sub-groups need", () => expect(members({ subGroups })).toBe(7));
  it("is what the smallest needed sub-groups need", () => {
    expect(members({ subGroups, minSubGroup: 1 })).toBe(1);
    const some = subGroups.map((entry) => (entry.name === "workers" ? { ...entry, minSubGroup: 1 } : entry));
    expect(members({ subGroups: some })).toBe(3);
  });
  it("ends where parents go round", () => {
    const ring = [
      { name: "a", parent: "" },
      { name: "b", parent: "b" },
      { name: "a", parent: "a" },
    ];
    expect(members({ subGroups: ring })).toBe(0);
  });
  it("ends at once where hundreds have one name", () => {
    const same = Array.from({ length: 255 }, () => ({ name: "a", parent: "a" }));
    expect(members({ subGroups: [{ name: "leader", minMember: 2 }, { name: "a" }, ...same] })).toBe(2);
  });
});

describe("a group of KAI", () => {
  it("takes the single reason of older versions where there is no list", () => {
    const schedulingConditions = [{ type: "UnschedulableOnNodePool", reason: "Unschedulable", message: "no node" }];
    const { schedulingConditions: read } = recordOf(decodeKaiPodGroup(group({ status: { schedulingConditions } })));
    expect(read[0]?.reasons).toEqual([{ reason: "Unschedulable", message: "no node" }]);
  });
});

describe("a shard of KAI", () => {
  const shard = (spec: object) => recordOf(decodeSchedulingShard({ metadata: { name: "s" }, spec }));

  it("takes KAI's defaults where a usage database is set", () => {
    const { kValue, usage } = shard({ partitionLabelValue: "h100", usageDBConfig: { clientType: "prometheus" } });
    expect(kValue).toBe(1);
    expect(usage).toEqual({ windowSeconds: 604_800, windowType: "sliding", halfLifeSeconds: null });
  });

  it("reads what is set", () => {
    const usageParams = { windowSize: "24h0m0s", windowType: "tumbling", halfLifePeriod: "10m0s" };
    const read = shard({ kValue: 0.5, usageDBConfig: { clientType: "prometheus", usageParams } });
    expect(read).toMatchObject({
      kValue: 0.5,
      usage: { windowSeconds: 86_400, windowType: "tumbling", halfLifeSeconds: 600 },
    });
  });
});
