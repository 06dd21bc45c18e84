import { describe, expect, it } from "vitest";
import { emptyMemory } from "../../exporter/join/memory.ts";
import { gfdLabels, gpuNode, gpuPod, node, now, page, reading } from "./clusterBuilder.ts";
import { codes, defaultSettings, joined, nodeOf, snapshotOf, statesOf } from "./outcomes.ts";

const a100 = "NVIDIA-A100-SXM4-80GB";

describe("a count over time", () => {
  const lost = gpuNode("n", 8, { labels: gfdLabels(7), capacity: { "nvidia.com/gpu": 7 } });

  it("never falls while the boot id stays: a GPU that fell off the bus is unavailable", () => {
    const first = joined({ nodes: [gpuNode("n", 8)] });
    const { snapshot } = joined({ nodes: [lost] }, defaultSettings, first.memory, now + 30);
    expect(statesOf(snapshot)).toEqual({ idle_node: 7, unavailable: 1 });
    expect(codes(snapshot)).toContain("gpu-lost");
  });

  it("the GPU that telemetry no longer shows is the one that is unavailable", () => {
    const eight = Array.from({ length: 8 }, (_, i) => reading(`GPU-${i}`, 0));
    const first = joined({ nodes: [gpuNode("n", 8)], telemetry: [page("n", eight)] });
    const state = {
      nodes: [lost],
      telemetry: [
        page(
          "n",
          eight.filter((_, i) => i !== 3),
        ),
      ],
    };
    const { snapshot } = joined(state, defaultSettings, first.memory, now + 30);
    expect(snapshot.devices.filter((device) => device.unhealthy).map((device) => device.uuid)).toEqual(["GPU-3"]);
  });

  it("a reboot starts a new count", () => {
    const first = joined({ nodes: [gpuNode("n", 8)] });
    const { snapshot } = joined({ nodes: [{ ...lost, bootId: "next" }] }, defaultSettings, first.memory, now + 600);
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(7);
  });

  it("is corrected downwards by a better source: sharing labels that come late", () => {
    const bare = node("n", { capacity: { "nvidia.com/gpu": 8 } });
    const first = joined({ nodes: [bare] });
    expect(nodeOf(first.snapshot, "n").physicalGpus).toBe(8);
    const labels = { ...gfdLabels(2, `${a100}-SHARED`), "nvidia.com/gpu.replicas": "4" };
    const second = joined({ nodes: [{ ...bare, labels }] }, defaultSettings, first.memory, now + 30);
    expect(statesOf(second.snapshot)).toEqual({ idle_node: 2 });
    const third = joined({ nodes: [bare] }, defaultSettings, second.memory, now + 60);
    expect(nodeOf(third.snapshot, "n").physicalGpus).toBe(2);
  });

  it("a driver that is not ready makes the GPUs unavailable, not gone", () => {
    const first = joined({ nodes: [gpuNode("n", 4)] });
    const gone = node("n", { labels: gfdLabels(4), capacity: { "nvidia.com/gpu": 0 } });
    expect(statesOf(joined({ nodes: [gone] }, defaultSettings, first.memory, now + 30).snapshot)).toEqual({
      unavailable: 4,
    });
    const unlabelled = { ...gone, labels: {} };
    expect(statesOf(joined({ nodes: [unlabelled] }, defaultSettings, first.memory, now + 30).snapshot)).toEqual({
      unavailable: 4,
    });
    expect(statesOf(snapshotOf({ nodes: [gone] }))).toEqual({ unavailable: 4 });
  });

  it("less allocatable than capacity is unavailable, the unlabelled GPU first", () => {
    const object = gpuNode("n", 2, { allocatable: { "nvidia.com/gpu": 1 } });
    const telemetry = [page("n", [reading("GPU-0", 0, "job"), reading("GPU-1", 0)])];
    const snapshot = snapshotOf({ nodes: [object], pods: [gpuPod("job", "n", 1)], telemetry });
    expect(snapshot.devices.map((device) => device.unhealthy)).toEqual([false, true]);
  });

  it("less allocatable than capacity is unavailable, the GPU with an error of its own before one without a pod", () => {
    const object = gpuNode("n", 2, { allocatable: { "nvidia.com/gpu": 1 } });
    const telemetry = [
      page("n", [
        { ...reading("GPU-0", 0, "job"), lastXid: 95 },
        { ...reading("GPU-1", 0), lastXid: 31 },
      ]),
    ];
    const snapshot = snapshotOf({ nodes: [object], pods: [gpuPod("job", "n", 1)], telemetry });
    expect(snapshot.devices.map((device) => device.unhealthy)).toEqual([true, false]);
  });

  it("a driver that is not ready is the fault of its GPUs, and of those that are merely not offered it is not", () => {
    const gone = node("n", { labels: gfdLabels(2), capacity: { "nvidia.com/gpu": 0 } });
    expect(snapshotOf({ nodes: [gone] }).devices.map(({ fault }) => fault)).toEqual(["driver", "driver"]);
    const short = gpuNode("n", 2, { allocatable: { "nvidia.com/gpu": 1 } });
    expect(snapshotOf({ nodes: [short] }).devices.map(({ fault }) => fault)).toEqual([null, null]);
  });

  it("what the kubelet reports to a pod makes that GPU unavailable, and no other", () => {
    const telemetry = [page("n", [reading("GPU-0", 0.5, "job"), reading("GPU-1", 0.5)])];
    const pods = [gpuPod("job", "n", 1, { gpu: { unhealthy: ["GPU-0", "GPU-elsewhere"] } })];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods, telemetry });
    expect(snapshot.devices.map(({ unhealthy, fault }) => [unhealthy, fault])).toEqual([
      [true, "pod_status"],
      [false, null],
    ]);
    // The kubelet and the device plugin speak of the same GPU.
    const fewer = gpuNode("n", 2, { allocatable: { "nvidia.com/gpu": 1 } });
    expect(statesOf(snapshotOf({ nodes: [fewer], pods, telemetry })).unavailable).toBe(1);
  });
});

describe("memory of the join", () => {
  it("is empty before the first cycle", () => {
    expect(Object.values(emptyMemory).every((map) => map.size === 0)).toBe(true);
  });
});
