import { describe, expect, it } from "vitest";
import { type KaiInput, kaiSystem } from "../../../exporter/join/queues/kaiSystem.ts";
import type { DeclaredGang } from "../../../exporter/join/queues/queueSystem.ts";
import type { KaiPodGroup } from "../../../exporter/model/queues/kai.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiGroup, kaiQueue } from "../../queues/groupRows.ts";
import { pod } from "../clusterBuilder.ts";
import { gangsOf, physicalGpus } from "./queueRows.ts";

function input(parts: Partial<KaiInput["objects"]>, others: Partial<KaiInput> = {}): KaiInput {
  const objects = { ...noQueueObjects, ...parts };
  const nodePoolLabel = "kai.scheduler/node-pool";
  return {
    objects,
    pools: [physicalGpus("H100", 16)],
    priorityClasses: [],
    nodePoolLabel,
    pods: [],
    hasPods: false,
    ...others,
  };
}

describe("PodGroups of KAI", () => {
  const classes = [
    { name: "train", value: 50, globalDefault: false },
    { name: "build", value: 100, globalDefault: false },
  ];
  const gangOf = (parts: Partial<KaiPodGroup>, gpu = { quota: 4, overQuotaWeight: 1, limit: 8 }): DeclaredGang | null =>
    gangsOf(
      kaiSystem(
        input(
          {
            kaiQueues: [kaiQueue("lab"), kaiQueue("team", { parent: "lab", gpu })],
            kaiPodGroups: [kaiGroup("g", "team", parts)],
          },
          { priorityClasses: classes },
        ),
      ),
    )[0] ?? null;
  const unschedulable = (reason: string, nodePool = "default") => ({
    type: "UnschedulableOnNodePool",
    nodePool,
    reasons: [{ reason, message: "" }],
    message: "",
    changedAt: null,
  });

  it("become gangs of at least one member, with their owner", () => {
    expect(gangOf({ minMember: 0 })).toMatchObject({
      kind: "PodGroup",
      members: 1,
      min: 1,
      ownerUids: ["uid-train"],
      ownerKind: "Job",
      queue: { scheduler: "kai", name: "team", localQueue: null },
      since: 1000,
      startedAt: null,
      never: null,
    });
  });

  it.each([
    ["its class", { priorityClass: "build" }, 100],
    ["KAI's default without one", { priorityClass: null }, 50],
    ["KAI's default where the class is gone", { priorityClass: "gone" }, 50],
  ])("have the priority of %s", (_, parts, priority) => {
    expect(gangOf(parts)?.priority).toBe(priority);
  });

  it("have the priority of the class that is marked as default", () => {
    const marked = [{ name: "usual", value: 70, globalDefault: true }];
    const objects = { kaiQueues: [kaiQueue("team")], kaiPodGroups: [kaiGroup("g", "team")] };
    expect(gangsOf(kaiSystem(input(objects, { priorityClasses: marked })))[0]?.priority).toBe(70);
  });

  it("wait since their last eviction", () => {
    expect(gangOf({ lastEvictionAt: 5000 })?.since).toBe(5000);
    expect(gangOf({ createdAt: null, lastEvictionAt: null })?.since).toBeNull();
  });

  it.each([
    ["all its GPUs", { allocated: { "nvidia.com/gpu": 2 }, lastStartAt: 2000 }, 2000],
    ["a part of them", { allocated: { "nvidia.com/gpu": 1 }, lastStartAt: 2000 }, null],
    [
      "all, but was evicted since",
      { allocated: { "nvidia.com/gpu": 2 }, lastStartAt: 2000, lastEvictionAt: 3000 },
      null,
    ],
    [
      "all, and was evicted before",
      { allocated: { "nvidia.com/gpu": 2 }, lastStartAt: 2000, lastEvictionAt: 1500 },
      2000,
    ],
    [
      "nothing that its status knows of",
      { allocated: null, requested: { "nvidia.com/gpu": 2 }, lastStartAt: 2000 },
      null,
    ],
  ])("that have %s began at", (_, parts, startedAt) => {
    expect(gangOf(parts)?.startedAt).toBe(startedAt);
  });

  it.each(["OverLimit", "NonPreemptibleOverQuota", "PreemptionDelayNotElapsed"])("wait on with %s", (reason) => {
    expect(gangOf({ schedulingConditions: [unschedulable(reason)] })).toMatchObject({ never: null, reason });
  });

  it("have no queue where the scheduler says so, or where it is not there or has children", () => {
    expect(gangOf({ schedulingConditions: [unschedulable("QueueDoesNotExist")] })?.never).toBe("no-queue");
    expect(gangOf({ queue: "gone" })?.never).toBe("no-queue");
    expect(gangOf({ queue: "lab" })?.never).toBe("no-queue");
  });

  it("do not listen to a shard that they have left", () => {
    expect(gangOf({ schedulingConditions: [unschedulable("QueueDoesNotExist", "old")] })).toMatchObject({
      never: null,
      reason: "",
    });
  });

  it("can never run under a limit of zero, nor above a quota of zero when they are not preemptible", () => {
    const [noLimit, noQuota] = [
      { quota: 4, overQuotaWeight: 1, limit: 0 },
      { quota: 0, overQuotaWeight: 1, limit: -1 },
    ];
    expect(gangOf({}, noLimit)?.never).toBe("above-limit");
    expect(gangOf({ preemptibility: "non-preemptible" }, noQuota)?.never).toBe("above-limit");
    expect(gangOf({ priorityClass: "train" }, noQuota)?.never).toBeNull();
    expect(gangOf({ priorityClass: "build" }, noQuota)?.never).toBe("above-limit");
    expect(gangOf({ priorityClass: "build", preemptibility: "preemptible" }, noQuota)?.never).toBeNull();
  });

  it("can never run where they need more than the limit, or, not preemptible, more than the quota", () => {
    const amounts = { quota: 4, overQuotaWeight: 1, limit: 8 };
    const neverWith = (requested: number, minMember: number, podCount: number, priorityClass = "train") => {
      const pods = Array.from({ length: podCount }, (_, i) =>
        pod(`p${i}`, null, { annotations: { "pod-group-name": "g" } }),
      );
      const group = kaiGroup("g", "team", { requested: { "nvidia.com/gpu": requested }, minMember, priorityClass });
      const lab = kaiQueue("lab", { gpu: { quota: -1, overQuotaWeight: 1, limit: -1 } });
      const kaiQueues = [lab, kaiQueue("team", { parent: "lab", gpu: amounts })];
      const objects = { kaiQueues, kaiPodGroups: [group] };
      return gangsOf(kaiSystem(input(objects, { priorityClasses: classes, pods })))[0]?.never;
    };
    expect(neverWith(8, 4, 4)).toBeNull();
    expect(neverWith(9, 4, 4)).toBe("above-limit");
    expect(neverWith(4, 4, 4, "build")).toBeNull();
    expect(neverWith(5, 4, 4, "build")).toBe("above-limit");
    // The quota of all queues above counts.
    expect(
      gangOf({ preemptibility: "non-preemptible" }, { quota: 4, overQuotaWeight: 1, limit: 8 })?.never,
      "lab has none",
    ).toBe("above-limit");
    // Fewer pods than there are will do, or nobody knows how many there are.
    expect(neverWith(9, 1, 9)).toBeNull();
    expect(neverWith(9, 4, 0)).toBeNull();
  });

  it("without GPUs are left out, unless a pod with GPUs is in them", () => {
    const none = { requested: { cpu: 4 }, allocated: { cpu: 4 } };
    expect(gangOf(none)).toBeNull();
    expect(gangOf({ requested: null, allocated: null })).toBeNull();
    expect(gangOf({ requested: { "run.ai/gpu.memory": 4000 } })).not.toBeNull();
    const member = pod("p", null, { annotations: { "pod-group-name": "g" } });
    const objects = { kaiQueues: [kaiQueue("team")], kaiPodGroups: [kaiGroup("g", "team", none)] };
    expect(kaiSystem(input(objects, { pods: [member] })).gangs).toHaveLength(1);
    expect(kaiSystem(input(objects, { pods: [{ ...member, phase: "Succeeded" }] })).gangs).toHaveLength(0);
  });
});
