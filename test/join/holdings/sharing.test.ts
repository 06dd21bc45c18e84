import { describe, expect, it } from "vitest";
import { claimant, gfdLabels, gpuNode, gpuPod, instance, node, now, page, pod, reading } from "../clusterBuilder.ts";
import {
  allocatedBy,
  codes,
  defaultSettings,
  holdingsOf,
  joined,
  nodeOf,
  podOf,
  snapshotOf,
  statesOf,
} from "../outcomes.ts";

const sliced = (physicalGpus: number, replicas: number) =>
  node("n", {
    capacity: { "nvidia.com/gpu": physicalGpus * replicas },
    labels: { ...gfdLabels(physicalGpus), "nvidia.com/gpu.replicas": String(replicas) },
  });

describe("a shared GPU", () => {
  it("k of R replicas is k/R of the GPU; each holder is active with min(1, u/H), estimated", () => {
    const pods = [gpuPod("a", "n", 1), gpuPod("b", "n", 2)];
    const row = { ...reading("GPU-0", 0.6), claimants: [claimant("a"), claimant("b", { slots: 2 })] };
    const snapshot = snapshotOf({ nodes: [sliced(1, 4)], pods, telemetry: [page("n", [row])] });
    expect(holdingsOf(snapshot, "a")).toMatchObject([
      { share: 0.25, estimated: true, activity: expect.closeTo(0.8, 12) },
    ]);
    expect(holdingsOf(snapshot, "b")).toMatchObject([
      { share: 0.5, estimated: true, activity: expect.closeTo(0.8, 12) },
    ]);
    expect(statesOf(snapshot)).toEqual({
      active: expect.closeTo(0.6, 12),
      underutilized: expect.closeTo(0.15, 12),
      free: expect.closeTo(0.25, 12),
    });
  });

  it("what is active beyond its holders is unattributed: max(0, u - H); the rest is free", () => {
    const snapshot = snapshotOf({
      nodes: [sliced(1, 4)],
      pods: [gpuPod("a", "n", 1)],
      telemetry: [page("n", [reading("GPU-0", 0.6, "a")])],
    });
    expect(statesOf(snapshot)).toEqual({
      active: 0.25,
      unattributed: expect.closeTo(0.35, 12),
      free: expect.closeTo(0.4, 12),
    });
  });

  it("labelled sharers come first, other requests fill the slots, estimated", () => {
    const pods = [gpuPod("a", "n", 1), gpuPod("b", "n", 1), gpuPod("c", "n", 1)];
    const rows = [reading("GPU-0", 0.5, "a"), reading("GPU-1", 0.5)];
    const snapshot = snapshotOf({ nodes: [sliced(2, 2)], pods, telemetry: [page("n", rows)] });
    expect(holdingsOf(snapshot, "a")).toMatchObject([{ on: "GPU-0", share: 0.5, source: "dcgm" }]);
    expect(allocatedBy(snapshot, "b")).toBeCloseTo(0.5, 9);
    expect(holdingsOf(snapshot, "b").every((holding) => holding.estimated && holding.source === "request")).toBe(true);
    // Half of the first GPU was left, and all of the second.
    const onFirst = [...holdingsOf(snapshot, "b"), ...holdingsOf(snapshot, "c")].filter(
      (holding) => holding.on === "GPU-0",
    );
    expect(onFirst.reduce((sum, holding) => sum + holding.share, 0)).toBeCloseTo(1 / 3, 9);
  });

  it("per-process rows say better, and are not estimated", () => {
    const claimants = [claimant("a", { processUtil: 0.4 }), claimant("b", { processUtil: 0 })];
    const row = { ...reading("GPU-0", 0.4), claimants };
    const pods = [gpuPod("a", "n", 1), gpuPod("b", "n", 1)];
    const snapshot = snapshotOf({ nodes: [sliced(1, 2)], pods, telemetry: [page("n", [row])] });
    expect(holdingsOf(snapshot, "a")).toMatchObject([{ activity: 0.8, estimated: false }]);
    expect(holdingsOf(snapshot, "b")).toMatchObject([{ activity: 0, estimated: false }]);
  });

  it("per-process values that are all 0 on a busy GPU are not believed", () => {
    const claimants = [claimant("a", { processUtil: 0 }), claimant("b", { processUtil: 0 })];
    const pods = [gpuPod("a", "n", 1), gpuPod("b", "n", 1)];
    const snapshot = snapshotOf({
      nodes: [sliced(1, 2)],
      pods,
      telemetry: [page("n", [{ ...reading("GPU-0", 0.9), claimants }])],
    });
    expect(holdingsOf(snapshot, "b")).toMatchObject([{ activity: expect.closeTo(0.9, 12), estimated: true }]);
  });

  it.each([
    ["say better whoever gave the share", { podUid: "uid-research-a" }, { activity: 0.8, estimated: false }],
    [
      "say nothing about a pod that was made anew",
      { podUid: "old" },
      { activity: expect.closeTo(0.4, 12), estimated: true },
    ],
    [
      "say nothing about a pod of another namespace",
      { namespace: "x" },
      { activity: expect.closeTo(0.4, 12), estimated: true },
    ],
  ])("processes by pod %s", (_case, parts, wanted) => {
    const of = (pod: string, util: number) => ({ namespace: "research", pod, podUid: null, util });
    const podProcesses = [{ ...of("a", 0.4), ...parts }, of("b", 0.02), of("stranger", 0.6)];
    const kai = (name: string) =>
      pod(name, "n", {
        schedulerName: "kai-scheduler",
        labels: { "runai-gpu-group": "g" },
        annotations: { "gpu-fraction": "0.5" },
      });
    const reserved = gpuPod("gpu-reservation", "n", 1, {
      namespace: "kai-resource-reservation",
      labels: { "runai-gpu-group": "g" },
      annotations: { "run.ai/reserve_for_gpu_index": "GPU-0" },
    });
    const snapshot = snapshotOf({
      nodes: [gpuNode("n", 1)],
      pods: [reserved, kai("a"), kai("b")],
      telemetry: [page("n", [{ ...reading("GPU-0", 0.4), podProcesses }])],
    });
    expect(holdingsOf(snapshot, "a")).toMatchObject([wanted]);
    expect(holdingsOf(snapshot, "b")).toMatchObject([{ activity: 0.04, estimated: false }]);
  });

  it("processes by pod that are all 0 on a busy GPU are not believed, and a pod alone has its GPU's activity", () => {
    const podProcesses = [{ namespace: "research", pod: "a", podUid: null, util: 0 }];
    const telemetry = [page("n", [{ ...reading("GPU-0", 0.9, "a", "b"), podProcesses }])];
    const both = snapshotOf({ nodes: [sliced(1, 2)], pods: [gpuPod("a", "n", 1), gpuPod("b", "n", 1)], telemetry });
    expect(holdingsOf(both, "a")).toMatchObject([{ activity: expect.closeTo(0.9, 12), estimated: true }]);
    const alone = snapshotOf({ nodes: [sliced(1, 2)], pods: [gpuPod("a", "n", 1)], telemetry });
    expect(holdingsOf(alone, "a")).toMatchObject([{ activity: 1, estimated: false }]);
  });

  it("instances of a MIG GPU are allocated by their profile", () => {
    const object = node("n", {
      capacity: { "nvidia.com/mig-1g.10gb": 2, "nvidia.com/mig-3g.40gb": 1 },
      labels: { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" },
    });
    const rows = [
      instance("GPU-0", "1", "3g.40gb", 0.5),
      instance("GPU-0", "2", "1g.10gb", 0, "small"),
      instance("GPU-0", "3", "1g.10gb", 0),
    ];
    const pods = [
      gpuPod("small", "n", 1, {}, "nvidia.com/mig-1g.10gb"),
      gpuPod("large", "n", 1, {}, "nvidia.com/mig-3g.40gb"),
    ];
    const snapshot = snapshotOf({ nodes: [object], pods, telemetry: [page("n", rows)] });
    expect(holdingsOf(snapshot, "small")).toMatchObject([{ on: "GPU-0/2", share: 1 / 7 }]);
    // The only instance of its profile: the device is known after all.
    expect(holdingsOf(snapshot, "large")).toMatchObject([{ on: "GPU-0/1", estimated: false, activity: 0.5 }]);
  });
});

describe("a pod known by its request alone", () => {
  const rows = (...activities: number[]) => [
    page(
      "n",
      activities.map((activity, i) => reading(`GPU-${i}`, activity)),
    ),
  ];

  it("carries the mean activity of the node's unassigned devices, estimated", () => {
    const pods = [gpuPod("a", "n", 1), gpuPod("b", "n", 1)];
    const labelled = [page("n", [reading("GPU-0", 1, "b"), reading("GPU-1", 0.9), reading("GPU-2", 0.3)])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 3)], pods, telemetry: labelled });
    expect(statesOf(snapshot, "a")).toEqual({ active: expect.closeTo(0.6, 9), underutilized: expect.closeTo(0.4, 9) });
    expect(holdingsOf(snapshot, "a").every((holding) => holding.estimated)).toBe(true);
  });

  it("activity beyond what is allocated on those devices is unattributed", () => {
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods: [gpuPod("a", "n", 1)], telemetry: rows(0.9, 0.7) });
    expect(statesOf(snapshot)).toEqual({
      active: expect.closeTo(0.8, 9),
      underutilized: expect.closeTo(0.2, 9),
      unattributed: expect.closeTo(0.6, 9),
      free: expect.closeTo(0.4, 9),
    });
  });

  it("is idle only if every unassigned device of the node is idle", () => {
    const idle = (second: number) => {
      const state = { nodes: [gpuNode("n", 2)], pods: [gpuPod("a", "n", 1)], telemetry: rows(0, second) };
      const { memory } = joined(state, defaultSettings, undefined, now - 1800);
      return statesOf(joined(state, defaultSettings, memory, now).snapshot, "a");
    };
    expect(idle(0.05)).toEqual({ idle: expect.closeTo(1, 9) });
    expect(idle(0.06)).not.toHaveProperty("idle");
  });

  it("that takes all there is: its devices are known after all", () => {
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods: [gpuPod("a", "n", 2)], telemetry: rows(0.9, 0.1) });
    expect(holdingsOf(snapshot, "a")).toMatchObject([
      { on: "GPU-0", share: 1, estimated: false, activity: 0.9 },
      { on: "GPU-1", share: 1, estimated: false, activity: 0.1 },
    ]);
  });

  it("an unhealthy GPU that it may be on keeps that from being certain", () => {
    const object = gpuNode("n", 3, { allocatable: { "nvidia.com/gpu": 2 } });
    const snapshot = snapshotOf({ nodes: [object], pods: [gpuPod("a", "n", 2)], telemetry: rows(0.9, 0.1, 0) });
    expect(holdingsOf(snapshot, "a").every((holding) => holding.estimated)).toBe(true);
  });

  it("has a record of its own on GPUs that nothing identifies", () => {
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods: [gpuPod("a", "n", 1)] });
    expect(snapshot.devices.map((device) => device.uuid)).toEqual([null, null]);
    expect(statesOf(snapshot)).toEqual({ unobserved: expect.closeTo(1, 9), free: expect.closeTo(1, 9) });
  });

  it("that asks for more than the node has: the difference is an imbalance and a problem", () => {
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods: [gpuPod("a", "n", 3)] });
    expect(nodeOf(snapshot, "n")).toMatchObject({ allocatedByDevices: expect.closeTo(2, 9), allocatedByPods: 3 });
    expect(codes(snapshot)).toContain("more-allocated-than-there-is");
  });

  it("whose unit nobody knows: what it asks for is null, not 0", () => {
    const object = node("n", { capacity: { "nvidia.com/gpu": 2 }, labels: gfdLabels(2) });
    const odd = gpuPod("odd", "n", 4, {}, "nvidia.com/gpu.shared");
    const snapshot = snapshotOf({ nodes: [object], pods: [odd] });
    expect(podOf(snapshot, "odd").gpus).toBeNull();
    expect(codes(snapshot)).toContain("gpu-resource-unknown");
  });
});
