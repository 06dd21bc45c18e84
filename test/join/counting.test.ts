import { describe, expect, it } from "vitest";
import type { ClusterNode } from "../../exporter/model/node.ts";
import { gfdLabels, gpuNode, gpuPod, node, now, page, reading } from "./clusterBuilder.ts";
import {
  allocatedBy,
  analysed,
  codes,
  defaultSettings,
  joined,
  nodeOf,
  snapshotOf,
  statesOf,
  withGpu,
} from "./outcomes.ts";

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

describe("the GPUs of a node", () => {
  const rules: readonly (readonly [rule: string, node: ClusterNode, physicalGpus: number | null])[] = [
    ["GFD counts GPUs", gpuNode("n", 8), 8],
    ["a profile of no slices means nothing", mig({ "nvidia.com/mig-0g.10gb": 4 }), null],
    ["more GPUs than any machine has are not believed", node("n", { capacity: { "nvidia.com/gpu": 1e12 } }), null],
    ["capacity alone", node("n", { capacity: { "nvidia.com/gpu": 4 } }), 4],
    [
      "MIG single counts instances, seven to a GPU",
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
      "MIG mixed: slices rounded up to GPUs, beside whole ones",
      mig({ "nvidia.com/gpu": 7, "nvidia.com/mig-1g.12gb": 2, "nvidia.com/mig-3g.48gb": 1 }),
      8,
    ],
    [
      "MIG mixed: GFD's count is of GPUs although its replicas are 0",
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
      "a DGX whose network operator registers InfiniBand cards",
      node("n", { capacity: { "nvidia.com/gpu": 8, "nvidia.com/resibp24s0": 8 }, labels: gfdLabels(8) }),
      8,
    ],
    [
      "passthrough GPUs beside NVSwitches",
      node("n", { capacity: { "nvidia.com/pgpu": 8, "nvidia.com/nvswitch": 4 } }),
      8,
    ],
    [
      "a passthrough GPU and its audio function",
      node("n", {
        capacity: { "nvidia.com/GA102GL_A10": 2, "nvidia.com/GA102_HIGH_DEFINITION_AUDIO_CONTROLLER": 2 },
      }),
      2,
    ],
    ["vGPU types of half a GPU", node("n", { capacity: { "nvidia.com/NVIDIA_A10-12Q": 4 } }), 2],
    ["vGPU types of a sixteenth", node("n", { capacity: { "nvidia.com/GRID_T4-1Q": 16 } }), 1],
    [
      "one more instance than compute slices would need: 1g.20gb takes a quarter of the memory",
      mig({ "nvidia.com/mig-1g.20gb": 32 }, "NVIDIA-H100-80GB-HBM3"),
      8,
    ],
    ["1g.10gb is a quarter of a GPU of 40 GB", mig({ "nvidia.com/mig-1g.10gb": 8 }, "NVIDIA-A100-SXM4-40GB"), 2],
    ["one instance of each GPU has the media engines", mig({ "nvidia.com/mig-1g.10gb.me": 8 }), 8],
    ["three of 2g.20gb to a GPU, though 6 of 7 slices", mig({ "nvidia.com/mig-2g.20gb": 24 }), 8],
    [
      "all-balanced on eight GPUs",
      mig({ "nvidia.com/mig-1g.10gb": 16, "nvidia.com/mig-2g.20gb": 8, "nvidia.com/mig-3g.40gb": 8 }),
      8,
    ],
    [
      "MIG single with instances that take more memory than compute",
      mig({ "nvidia.com/gpu": 32 }, "NVIDIA-H100-80GB-HBM3-MIG-1g.20gb", { "nvidia.com/gpu.count": "32" }),
      8,
    ],
    [
      "time-slicing that only the instance type shows",
      node("n", { capacity: { "nvidia.com/gpu": 10 }, labels: { "node.kubernetes.io/instance-type": "g4dn.xlarge" } }),
      1,
    ],
    [
      "time-slicing that only Karpenter's label shows",
      node("n", { capacity: { "nvidia.com/gpu": 10 }, labels: { "karpenter.k8s.aws/instance-gpu-count": "1" } }),
      1,
    ],
    [
      "EKS Auto's own label",
      node("n", {
        labels: { "eks.amazonaws.com/instance-gpu-name": "l4", "eks.amazonaws.com/instance-gpu-count": "4" },
      }),
      4,
    ],
    [
      "Volcano's shares by the cores that it gives out",
      node("n", { capacity: { "volcano.sh/vgpu-number": 80, "volcano.sh/vgpu-cores": 800 } }),
      8,
    ],
    [
      "Alibaba's gpushare: GiB of memory, and a number of GPUs that nobody asks for",
      node("n", { capacity: { "aliyun.com/gpu-mem": 30, "aliyun.com/gpu-count": 2 } }),
      2,
    ],
    [
      "Trainium under two names and by core",
      node("n", {
        capacity: { "aws.amazon.com/neuron": 16, "aws.amazon.com/neurondevice": 16, "aws.amazon.com/neuroncore": 32 },
      }),
      16,
    ],
    [
      "a machine that is sold with GPUs, and nobody counts them",
      node("n", { labels: { "node.kubernetes.io/instance-type": "p9.48xlarge" } }),
      null,
    ],
    [
      "an NVIDIA GPU on the PCI bus, and nothing else",
      node("n", { labels: { "feature.node.kubernetes.io/pci-10de.present": "true" } }),
      null,
    ],
    [
      "a vGPU guest has one GPU",
      node("n", {
        capacity: { "nvidia.com/gpu": 1 },
        labels: { ...gfdLabels(1, "GRID-A100-10C"), "nvidia.com/vgpu.present": "true" },
      }),
      1,
    ],
  ];
  it.each(rules)("%s", (_rule, object, physicalGpus) => {
    expect(nodeOf(snapshotOf({ nodes: [object] }), "n").physicalGpus).toBe(physicalGpus);
  });

  it("a node without any sign of a GPU is no GPU node", () => {
    expect(snapshotOf({ nodes: [node("cpu")] }).nodes).toEqual([]);
  });

  it("functions of a DPU are no GPUs, and pods with some hold none", () => {
    const functions = "nvidia.com/bf3_p0_vfs";
    const nodes = [node("cpu", { capacity: { [functions]: 45 } })];
    const pods = Array.from({ length: 30 }, (_, i) => gpuPod(`p${i}`, "cpu", 1, {}, functions));
    expect(statesOf(snapshotOf({ nodes, pods }))).toEqual({});
  });

  it("a page that shows several pods on one GPU proves sharing; its units are the parts", () => {
    const shared = reading("GPU-0", 0.5, "a");
    const sharers = [...shared.claimants, ...reading("GPU-0", 0.5, "b").claimants];
    const state = {
      nodes: [node("n", { capacity: { "nvidia.com/gpu": 10 } })],
      pods: [gpuPod("a", "n", 1), gpuPod("b", "n", 1)],
      telemetry: [page("n", [{ ...shared, claimants: sharers }])],
    };
    const first = joined(state);
    expect(nodeOf(first.snapshot, "n").physicalGpus).toBe(1);
    expect(allocatedBy(first.snapshot, "a")).toBeCloseTo(0.1, 12);
    expect(codes(first.snapshot)).toContain("gpu-count-conflict");
    // The exporter restarts: what was seen since the boot still counts.
    const later = joined({ ...state, telemetry: [] }, defaultSettings, first.memory, now + 30);
    expect(nodeOf(later.snapshot, "n").physicalGpus).toBe(1);
    expect(allocatedBy(later.snapshot, "a")).toBeCloseTo(0.1, 12);
  });

  const withFourShown = (capacity: Record<string, number>) => {
    const physicalGpus = [0, 1, 2, 3].map((i) => reading(`GPU-${i}`, 0.5));
    return snapshotOf({ nodes: [node("n", { capacity })], telemetry: [page("n", physicalGpus)] });
  };

  it("a page that lacks GPUs is no such witness: they fell off the bus", () => {
    const snapshot = withFourShown({ "nvidia.com/gpu": 8 });
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(8);
    expect(statesOf(snapshot).unavailable).toBe(4);
    expect(codes(snapshot)).toContain("gpu-count-conflict");
  });

  it("a page of the host does not show the GPUs of virtual machines, and lacks none", () => {
    const snapshot = withFourShown({ "nvidia.com/gpu": 4, "nvidia.com/GA102GL_A10": 4 });
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(8);
    expect(statesOf(snapshot)).not.toHaveProperty("unavailable");
    expect(codes(snapshot)).not.toContain("gpu-count-conflict");
  });

  it("a setting of 0 says that a name means no GPU", () => {
    const odd = node("n", { capacity: { "nvidia.com/pgpu": 4 } });
    expect(snapshotOf({ nodes: [odd] }, withGpu({ resources: { "nvidia.com/pgpu": 0 } })).nodes).toEqual([]);
  });

  it("GPUs that no plugin gives out are unavailable, and never free", () => {
    const labels = { "node.kubernetes.io/instance-type": "p5.48xlarge", "nvidia.com/gpu.present": "true" };
    const snapshot = snapshotOf({ nodes: [node("n", { labels })] });
    expect(statesOf(snapshot)).toEqual({ unavailable: 8 });
    const [pool] = analysed(snapshot).placement.pools;
    expect(pool).toMatchObject({ freeGpus: 0, largestPlaceablePod: 0 });
  });

  it("GPUs that Volcano's plugin gives out are allocated to its pods, and free else", () => {
    const units = "volcano.sh/vgpu-number";
    const object = node("n", { capacity: { "nvidia.com/gpu": 0, [units]: 20, "volcano.sh/vgpu-cores": 200 } });
    const pods = Array.from({ length: 15 }, (_, i) => gpuPod(`p${i}`, "n", 1, {}, units));
    const states = statesOf(snapshotOf({ nodes: [object], pods }));
    expect(states).toEqual({ unobserved: expect.closeTo(1.5, 9), free: expect.closeTo(0.5, 9) });
  });

  it("HAMi shares although GFD knows nothing of it and says one replica", () => {
    const snapshot = snapshotOf({ nodes: [hami(register)], pods: [gpuPod("vgpu", "n", 1)] });
    expect(allocatedBy(snapshot, "vgpu")).toBeCloseTo(0.1, 12);
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

  it.each([
    ["label and resources", gpuNode("n", 8, { capacity: { "nvidia.com/gpu": 4 } }), [8, 4]],
    [
      "resources and the instance type",
      node("n", { capacity: { "nvidia.com/gpu": 4 }, labels: { "node.kubernetes.io/instance-type": "p5.48xlarge" } }),
      [4, 8],
    ],
    [
      "units and the instance type, which is believed",
      node("n", { capacity: { "nvidia.com/gpu": 10 }, labels: { "node.kubernetes.io/instance-type": "g4dn.xlarge" } }),
      [1, 10],
    ],
  ] as const)("a conflict of %s is said with both numbers", (_what, object, [taken, other]) => {
    const { problems } = snapshotOf({ nodes: [object] });
    const said = problems.filter(({ code }) => code === "gpu-count-conflict").map(({ message }) => message);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(new RegExp(`says ${taken} GPUs.* says ${other}`));
  });
});

describe("what nobody can count", () => {
  const uncounted = node("odd", { labels: { "nvidia.com/gpu.present": "true" } });

  it("is left out of the sums and listed, with a problem", () => {
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

  it("a page with more GPUs than the API counts does not add any", () => {
    const many = Array.from({ length: 50 }, (_, i) => reading(`GPU-${i}`, 1));
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], telemetry: [page("n", many)] });
    expect(snapshot.devices).toHaveLength(2);
    expect(codes(snapshot)).toContain("gpu-count-conflict");
  });
});
