import { describe, expect, it } from "vitest";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { kaiQueue } from "../../queues/groupRows.ts";
import { claimant, gpuNode, gpuPod, node, page, pod, reading } from "../clusterBuilder.ts";
import { allocatedBy, codes, holdingsOf, nodeOf, podOf, snapshotOf, statesOf } from "../outcomes.ts";

describe("HAMi's allocation annotation", () => {
  const uuids = ["GPU-aaaaaaaa-0001", "GPU-aaaaaaaa-0002"] as const;
  const annotations = {
    "hami.io/node-nvidia-register": uuids.map((uuid) => `${uuid},10,81920,100,NVIDIA-A100,0,true:`).join(""),
  };
  const labels = { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" };
  const nodes = [node("n", { annotations, labels, capacity: { "nvidia.com/gpu": 20 } })];
  const vgpu = (name: string, text: string, units = 1) =>
    gpuPod(name, "n", units, { annotations: { "hami.io/vgpu-devices-allocated": text } });

  it("gives the larger of the core and the memory share, of each GPU", () => {
    const text = `${uuids[0]},NVIDIA,20480,10:${uuids[1]},NVIDIA,8192,30:;`;
    const snapshot = snapshotOf({ nodes, pods: [vgpu("job", text, 2)] });
    expect(holdingsOf(snapshot, "job").map(({ on, share, source }) => [on, share, source])).toEqual([
      [uuids[0], 0.25, "annotation"],
      [uuids[1], 0.3, "annotation"],
    ]);
    expect(nodeOf(snapshot, "n").allocatedByPods).toBeCloseTo(0.55, 12);
  });

  it("without limits is the whole GPU", () => {
    expect(allocatedBy(snapshotOf({ nodes, pods: [vgpu("job", `${uuids[0]},NVIDIA,0,0:;`)] }), "job")).toBe(1);
  });

  it("shares above 1 are scaled down together", () => {
    const pods = [vgpu("a", `${uuids[0]},NVIDIA,1024,90:;`), vgpu("b", `${uuids[0]},NVIDIA,1024,60:;`)];
    const snapshot = snapshotOf({ nodes, pods });
    expect(allocatedBy(snapshot, "a")).toBeCloseTo(0.6, 12);
    expect(allocatedBy(snapshot, "b")).toBeCloseTo(0.4, 12);
  });

  it("that names GPUs which are not there takes no real GPU's place", () => {
    const fakes = ["GPU-00000000-0001", "GPU-00000000-0002"].map((uuid) => `${uuid},NVIDIA,1,1`).join(":");
    const liar = gpuPod("liar", "n", 1, { annotations: { "hami.io/vgpu-devices-allocated": `${fakes}:;` } });
    const telemetry = [page("n", [reading("GPU-aaaa", 0.9, "job"), reading("GPU-bbbb", 0.8)])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods: [liar, gpuPod("job", "n", 1)], telemetry });
    expect(snapshot.devices.map((device) => device.uuid)).toEqual(["GPU-aaaa", "GPU-bbbb"]);
    expect(holdingsOf(snapshot, "job")).toMatchObject([{ on: "GPU-aaaa", share: 1, estimated: false }]);
  });

  it("on a node without HAMi is only its author's word: the row that names the pod is better", () => {
    const liar = gpuPod("liar", "n", 2, { annotations: { "hami.io/vgpu-devices-allocated": "GPU-0,NVIDIA,1,1:;" } });
    const telemetry = [page("n", [reading("GPU-0", 0.9, "liar"), reading("GPU-1", 0.9, "liar")])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods: [liar], telemetry });
    expect(allocatedBy(snapshot, "liar")).toBe(2);
  });
});

describe("KAI and Run:ai fractions", () => {
  const reservation = (group: string, uuid: string | null, name = `gpu-reservation-${group}`) =>
    gpuPod(name, "n", 1, {
      namespace: "kai-resource-reservation",
      labels: { "runai-gpu-group": group },
      annotations: uuid === null ? {} : { "run.ai/reserve_for_gpu_index": uuid },
    });
  const fraction = (name: string, group: string, annotations: Record<string, string>) =>
    pod(name, "n", { schedulerName: "kai-scheduler", labels: { "runai-gpu-group": group }, annotations });
  const nodes = [gpuNode("n", 2)];
  const telemetry = [page("n", [reading("GPU-0", 0.6), reading("GPU-1", 0)])];

  it("reservation pod -> GPU -> group -> fractions; the reservation pod itself holds nothing", () => {
    const pods = [
      reservation("g", "GPU-0"),
      fraction("a", "g", { "gpu-fraction": "0.5" }),
      fraction("b", "g", { "gpu-fraction": "0.25" }),
    ];
    const snapshot = snapshotOf({ nodes, pods, telemetry });
    expect(snapshot.pods.map((view) => view.name)).toEqual(["a", "b"]);
    expect(holdingsOf(snapshot, "a")).toMatchObject([{ on: "GPU-0", share: 0.5, source: "reservation" }]);
    // u = 0.6 of H = 0.75: both are active at 0.8.
    expect(holdingsOf(snapshot, "b")[0]?.activity).toBeCloseTo(0.8, 12);
    expect(nodeOf(snapshot, "n")).toMatchObject({ allocatedByDevices: 0.75, allocatedByPods: 0.75 });
  });

  it("finds the GPU by the row that names the reservation pod, where no annotation does", () => {
    const row = {
      ...reading("GPU-1", 0.1),
      claimants: [claimant("gpu-reservation-g", { namespace: "kai-resource-reservation" })],
    };
    const pods = [reservation("g", null), fraction("a", "g", { "gpu-fraction": "0.5" })];
    const snapshot = snapshotOf({ nodes, pods, telemetry: [page("n", [reading("GPU-0", 0), row])] });
    expect(holdingsOf(snapshot, "a")).toMatchObject([{ on: "GPU-1", share: 0.5 }]);
  });

  it("memory shares divide by the GPU's memory: telemetry, label, table", () => {
    const pods = [reservation("g", "GPU-0"), fraction("a", "g", { "gpu-memory": "20480" })];
    const shown = { ...reading("GPU-0", 0), memoryTotalBytes: 40960 * 1024 * 1024 };
    expect(allocatedBy(snapshotOf({ nodes, pods, telemetry: [page("n", [shown])] }), "a")).toBe(0.5);
    const labelled = gpuNode("n", 2, {
      labels: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81920" },
    });
    expect(allocatedBy(snapshotOf({ nodes: [labelled], pods, telemetry }), "a")).toBe(0.25);
    const t4 = gpuNode("n", 2, { labels: { "nvidia.com/gpu.product": "Tesla-T4" } });
    expect(
      allocatedBy(
        snapshotOf({ nodes: [t4], pods: [reservation("g", "GPU-0"), fraction("a", "g", { "gpu-memory": "7680" })] }),
        "a",
      ),
    ).toBe(0.5);
  });

  it("a fraction on several GPUs", () => {
    const labels = { "runai-gpu-group/g1": "g1", "runai-gpu-group/g2": "g2" };
    const schedulerName = "kai-scheduler";
    const several = pod("a", "n", {
      schedulerName,
      labels,
      annotations: { "gpu-fraction": "0.5", "gpu-fraction-num-devices": "2" },
    });
    const snapshot = snapshotOf({ nodes, pods: [reservation("g1", "GPU-0"), reservation("g2", "GPU-1"), several] });
    expect(holdingsOf(snapshot, "a").map(({ on, share }) => [on, share])).toEqual([
      ["GPU-0", 0.5],
      ["GPU-1", 0.5],
    ]);
    expect(podOf(snapshot, "a").gpus).toBe(1);
  });

  it("a reservation without its fraction pods is unattributed", () => {
    const ended = { ...fraction("a", "g", { "gpu-fraction": "0.5" }), phase: "Succeeded" as const };
    const snapshot = snapshotOf({
      nodes,
      queues: { ...noQueueObjects, kaiQueues: [kaiQueue("default-queue")] },
      pods: [reservation("g", "GPU-1"), ended],
      telemetry: [page("n", [reading("GPU-0", 0), reading("GPU-1", 0)])],
    });
    expect(statesOf(snapshot)).toEqual({ free: 1, unattributed: 1 });
  });

  it("a fraction whose GPU is not known is estimated on its node", () => {
    const pods = [reservation("g", null), fraction("a", "g", { "gpu-fraction": "0.5" })];
    const snapshot = snapshotOf({ nodes, pods, telemetry });
    expect(allocatedBy(snapshot, "a")).toBeCloseTo(0.5, 9);
    expect(holdingsOf(snapshot, "a").every((holding) => holding.estimated)).toBe(true);
  });

  it("where pods of the reservations' namespaces are not read, KAI's name as scheduler is enough", () => {
    const pods = [fraction("a", "g", { "gpu-fraction": "0.5" })];
    const snapshot = snapshotOf({ nodes, pods, telemetry, podNamespaces: new Set(["research"]) });
    expect(allocatedBy(snapshot, "a")).toBeCloseTo(0.5, 9);
    expect(allocatedBy(snapshotOf({ nodes, pods, telemetry }), "a")).toBe(0);
  });

  it("an annotation beside a request is only its author's word: the request counts", () => {
    const liar = gpuPod("liar", "n", 2, { annotations: { "gpu-fraction": "0.01" } });
    expect(allocatedBy(snapshotOf({ nodes, pods: [liar] }), "liar")).toBe(2);
  });

  it("fractions that make a hair more than a GPU still make exactly the GPU", () => {
    const pods = [
      reservation("g", "GPU-0"),
      ...["a", "b", "c"].map((name) => fraction(name, "g", { "gpu-fraction": "0.3333335" })),
    ];
    const snapshot = snapshotOf({ nodes, pods, telemetry });
    const states = Object.values(statesOf(snapshot)).reduce((sum, gpus) => sum + gpus, 0);
    expect(Math.abs(states - 2)).toBeLessThan(2e-9);
    expect(codes(snapshot)).not.toContain("allocated-twice");
  });
});
