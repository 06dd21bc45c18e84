import { describe, expect, it } from "vitest";
import { decodeResourceQuota } from "../../../../exporter/sources/kubernetes/queues/decodeQuotaRules.ts";
import {
  decodeVolcanoPodGroup,
  decodeVolcanoQueue,
} from "../../../../exporter/sources/kubernetes/queues/decodeVolcano.ts";
import { capturedItems, capturedRow, recordOf } from "./capturedList.ts";

describe("Volcano's objects as Volcano 1.15 writes them", () => {
  it("reads queues", () => {
    const queue = (name: string) => capturedRow("volcano-1.15/proportion/queues", name, decodeVolcanoQueue).row;
    expect(queue("batch")).toMatchObject({
      parent: "root",
      weight: 1,
      capability: { "nvidia.com/gpu": 2 },
      guarantee: null,
      deserved: null,
      reclaimable: true,
      priority: 0,
      state: "Open",
      allocated: { cpu: 4, memory: 8 * 2 ** 30, "nvidia.com/gpu": 2, pods: 2 },
      hierarchy: null,
    });
    expect(queue("root").reclaimable).toBe(false);
  });

  it("reads groups", () => {
    const { row: group } = capturedRow("volcano-1.15/capacity/podGroups", "language-a-", decodeVolcanoPodGroup);
    expect(group).toMatchObject({
      namespace: "team-language",
      queue: "language",
      minMember: 6,
      priorityClass: null,
      owner: { kind: "Job", name: "language-a" },
      phase: "Running",
      running: 6,
    });
    expect(group.minResources?.["nvidia.com/gpu"]).toBe(6);
    expect(group.conditions.map(({ type, isTrue }) => [type, isTrue])).toEqual([
      ["Unschedulable", true],
      ["Scheduled", true],
    ]);
  });

  it.each(["proportion/queues", "capacity/queues"])("reads all of %s", (name) => {
    for (const item of capturedItems(`volcano-1.15/${name}`)) expect(decodeVolcanoQueue(item).ok).toBe(true);
  });

  it.each(["proportion/podGroups", "proportion/podGroups.partial", "capacity/podGroups"])("reads all of %s", (name) => {
    for (const item of capturedItems(`volcano-1.15/${name}`)) expect(decodeVolcanoPodGroup(item).ok).toBe(true);
  });
});

describe("a group of Volcano", () => {
  it("is in the queue called default where it names none", () => {
    const group = recordOf(decodeVolcanoPodGroup({ metadata: { name: "g" }, spec: {} }));
    expect(group).toMatchObject({ queue: "default", minMember: 0, phase: "", minResources: null });
  });
});

describe("a ResourceQuota", () => {
  it("is read for its extended resources alone", () => {
    const quota = {
      metadata: { name: "gpus", namespace: "ns" },
      spec: { hard: { "requests.nvidia.com/gpu": "8", "requests.cpu": "100", pods: "10", "limits.memory": "1Gi" } },
      status: { used: { "requests.nvidia.com/gpu": "3", pods: "1" } },
    };
    expect(recordOf(decodeResourceQuota(quota))).toEqual({
      namespace: "ns",
      name: "gpus",
      hard: { "nvidia.com/gpu": 8 },
      used: { "nvidia.com/gpu": 3 },
    });
  });
});
