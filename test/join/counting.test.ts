import { describe, expect, it } from "vitest";
import type { ClusterNode } from "../../exporter/model/node.ts";
import { gfdLabels, gpuNode, gpuPod, node, page, reading } from "./clusterBuilder.ts";
import { codes, heldBy, nodeOf, snapshotOf, statesOf, withGpu } from "./outcomes.ts";

const a100 = "NVIDIA-A100-SXM4-80GB";

function mig(capacity: Record<string, number>, product = a100, labels: Record<string, string> = {}): ClusterNode {
  return node("n", { capacity, labels: { "nvidia.com/gpu.product": product, ...labels } });
}

const shared = (capacity: number, labels: Record<string, string>, name = "nvidia.com/gpu") =>
  node("n", { capacity: { [name]: capacity }, labels: { "nvidia.com/gpu.product": a100, ...labels } });

const register = "GPU-aaaaaaaa-0000,10,81920,100,NVIDIA-A100,0,true:GPU-bbbbbbbb-0000,10,81920,100,NVIDIA-A100,0,true:";
const registerJson = JSON.stringify([
  { id: "GPU-aaaaaaaa-0000", index: 0, count: 10, devmem: 81920, devcore: 100, type: "NVIDIA-A100", health: true },
  { id: "GPU-bbbbbbbb-0000", index: 1, count: 10, devmem: 81920, devcore: 100, type: "NVIDIA-A100", health: true },
]);
const hami = (annotation: string, labels: Record<string, string> = {}) =>
  node("n", {
    capacity: { "nvidia.com/gpu": 20 },
    labels: { ...gfdLabels(2, a100), ...labels },
    annotations: { "hami.io/node-nvidia-register": annotation },
  });

describe("the cards of a node", () => {
  const rules: readonly (readonly [rule: string, node: ClusterNode, cards: number | null])[] = [
    ["GFD counts cards", gpuNode("n", 8), 8],
    ["a profile of no slices means nothing", mig({ "nvidia.com/mig-0g.10gb": 4 }), null],
    ["more cards than any machine has are not believed", node("n", { capacity: { "nvidia.com/gpu": 1e12 } }), null],
    ["capacity alone", node("n", { capacity: { "nvidia.com/gpu": 4 } }), 4],
    [
      "MIG single counts instances, seven to a card",
      mig({ "nvidia.com/gpu": 14 }, `${a100}-MIG-1g.10gb`, { "nvidia.com/gpu.count": "14" }),
      2,
    ],
    [
      "MIG single by label alone, before the plugin is there",
      mig({}, `${a100}-MIG-1g.10gb`, { "nvidia.com/gpu.count": "14" }),
      2,
    ],
    [
      "MIG single with time-slicing",
      mig({ "nvidia.com/gpu": 28 }, `${a100}-MIG-1g.10gb-SHARED`, {
        "nvidia.com/gpu.count": "7",
        "nvidia.com/gpu.replicas": "4",
      }),
      1,
    ],
    [
      "MIG mixed: slices rounded up to cards, beside whole ones",
      mig({ "nvidia.com/gpu": 7, "nvidia.com/mig-1g.12gb": 2, "nvidia.com/mig-3g.48gb": 1 }),
      8,
    ],
    [
      "MIG mixed: GFD's count is of cards although its replicas are 0",
      mig({ "nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-3g.40gb": 1 }, a100, {
        "nvidia.com/gpu.count": "1",
        "nvidia.com/gpu.replicas": "0",
      }),
      1,
    ],
    [
      "MIG mixed with shared instances",
      mig({ "nvidia.com/mig-1g.10gb.shared": 28 }, a100, { "nvidia.com/mig-1g.10gb.replicas": "4" }),
      1,
    ],
    [
      "-MIG-INVALID counts nothing by label",
      mig({ "nvidia.com/gpu": 2 }, `${a100}-MIG-INVALID`, { "nvidia.com/gpu.count": "0" }),
      2,
    ],
    ["an A30 has four slices", mig({ "nvidia.com/mig-1g.6gb": 8 }, "NVIDIA-A30"), 2],
    [
      "media and attribute suffixes of profiles",
      mig({ "nvidia.com/mig-1g.10gb.me": 1, "nvidia.com/mig-2g.20gb": 3 }),
      1,
    ],
    [
      "a left-over resource of an older geometry adds nothing",
      node("n", {
        capacity: { "nvidia.com/gpu": 2, "nvidia.com/mig-1g.10gb": 7 },
        allocatable: { "nvidia.com/gpu": 2, "nvidia.com/mig-1g.10gb": 0 },
      }),
      2,
    ],
    ["a zero resource adds nothing", mig({ "nvidia.com/gpu": 0, "nvidia.com/mig-7g.80gb": 2 }), 2],
    ["time-slicing, not renamed", shared(8, { "nvidia.com/gpu.replicas": "4" }), 2],
    ["time-slicing, renamed", shared(8, { "nvidia.com/gpu.replicas": "4" }, "nvidia.com/gpu.shared"), 2],
    [
      "-SHARED without replicas: capacity over GFD's count",
      shared(8, { "nvidia.com/gpu.count": "2", "nvidia.com/gpu.product": `${a100}-SHARED` }),
      2,
    ],
    ["shared without any number: unknown", shared(8, { "nvidia.com/gpu.sharing-strategy": "mps" }), null],
    ["HAMi's register, older form", hami(register), 2],
    ["HAMi's register, JSON", hami(registerJson), 2],
    [
      "GKE time-sharing",
      node("n", {
        capacity: { "nvidia.com/gpu": 6 },
        labels: {
          "cloud.google.com/gke-accelerator": "nvidia-l4",
          "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
          "cloud.google.com/gke-max-shared-clients-per-gpu": "3",
        },
      }),
      2,
    ],
    [
      "GKE partition",
      node("n", {
        capacity: { "nvidia.com/gpu": 14 },
        labels: {
          "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
          "cloud.google.com/gke-gpu-partition-size": "1g.5gb",
        },
      }),
      2,
    ],
    [
      "GKE partition that is shared",
      node("n", {
        capacity: { "nvidia.com/gpu": 14 },
        labels: {
          "cloud.google.com/gke-accelerator": "nvidia-tesla-a100",
          "cloud.google.com/gke-gpu-partition-size": "1g.5gb",
          "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
          "cloud.google.com/gke-max-shared-clients-per-gpu": "2",
        },
      }),
      1,
    ],
    [
      "two models: GFD describes one of them",
      node("n", { capacity: { "nvidia.com/gpu": 8 }, labels: gfdLabels(4) }),
      8,
    ],
    [
      "the instance type's table",
      node("n", { labels: { "nvidia.com/gpu.present": "true", "node.kubernetes.io/instance-type": "p5.48xlarge" } }),
      8,
    ],
    [
      "Karpenter's own count",
      node("n", {
        labels: { "karpenter.k8s.aws/instance-gpu-name": "l4", "karpenter.k8s.aws/instance-gpu-count": "4" },
      }),
      4,
    ],
    ["an AMD partition mode whose parts nobody counts", node("n", { capacity: { "amd.com/cpx_nps4": 64 } }), null],
    [
      "a label that says GPU, and nothing that counts",
      node("n", { labels: { "nvidia.com/gpu.present": "true" } }),
      null,
    ],
    [
      "a vGPU guest has one card",
      node("n", {
        capacity: { "nvidia.com/gpu": 1 },
        labels: { ...gfdLabels(1, "GRID-A100-10C"), "nvidia.com/vgpu.present": "true" },
      }),
      1,
    ],
  ];
  it.each(rules)("%s", (_rule, object, cards) => {
    expect(nodeOf(snapshotOf({ nodes: [object] }), "n").physicalGpus).toBe(cards);
  });

  it("a node without any sign of a GPU is no GPU node", () => {
    expect(snapshotOf({ nodes: [node("cpu")] }).nodes).toEqual([]);
  });

  it("HAMi shares although GFD knows nothing of it and says one replica", () => {
    const snapshot = snapshotOf({ nodes: [hami(register)], pods: [gpuPod("vgpu", "n", 1)] });
    expect(heldBy(snapshot, "vgpu")).toBeCloseTo(0.1, 12);
    expect(snapshot.devices.map((device) => device.slots)).toEqual([10, 10]);
  });

  it("a setting gives renamed and shared resources their meaning", () => {
    const half = node("half", { capacity: { "acme.com/half-gpu": 8 } });
    const quarter = node("quarter", { capacity: { "nvidia.com/gpu.shared": 8 } });
    const settings = withGpu({ resources: { "acme.com/half-gpu": 0.5 }, replicas: { "nvidia.com/gpu.shared": 4 } });
    const snapshot = snapshotOf({ nodes: [half, quarter] }, settings);
    expect(nodeOf(snapshot, "half").physicalGpus).toBe(4);
    expect(nodeOf(snapshot, "quarter").physicalGpus).toBe(2);
    expect(snapshot.devices.filter((d) => d.node === "half").map((d) => d.slots)).toEqual([2, 2, 2, 2]);
  });

  it("every conflict is a problem that names both values", () => {
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 8, { capacity: { "nvidia.com/gpu": 7 } })] });
    const conflict = snapshot.problems.find((problem) => problem.code === "gpu-count-conflict");
    expect(conflict?.message).toMatch(/8 .*7/);
    expect(statesOf(snapshot)).toEqual({ idle_node: 7, unavailable: 1 });
  });
});

describe("what nobody can count", () => {
  const uncounted = node("odd", { labels: { "nvidia.com/gpu.present": "true" } });

  it("is left out of the books and listed, with a problem", () => {
    const state = {
      nodes: [uncounted, gpuNode("n", 2)],
      pods: [gpuPod("lost", "odd", 1)],
      telemetry: [page("odd", [reading("GPU-9", 1)])],
    };
    const snapshot = snapshotOf(state);
    expect(snapshot.coverage.uncountedNodes).toEqual(["odd"]);
    expect(codes(snapshot)).toContain("node-uncounted");
    expect(statesOf(snapshot)).toEqual({ idle_node: 2 });
    expect(snapshot.devices.filter((device) => device.node === "odd")).toEqual([]);
  });

  it("telemetry of a node without any sign of a GPU makes it uncounted, never counted", () => {
    const snapshot = snapshotOf({ nodes: [node("cpu")], telemetry: [page("cpu", [reading("GPU-1", 0.5)])] });
    expect(nodeOf(snapshot, "cpu").physicalGpus).toBeNull();
    expect(statesOf(snapshot)).toEqual({});
  });

  it("a page with more cards than the API counts does not add any", () => {
    const many = Array.from({ length: 50 }, (_, i) => reading(`GPU-${i}`, 1));
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], telemetry: [page("n", many)] });
    expect(snapshot.devices).toHaveLength(2);
    expect(codes(snapshot)).toContain("gpu-count-conflict");
  });
});
