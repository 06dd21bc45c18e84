import { describe, expect, it } from "vitest";
import { gpuNode, node, now, page, reading, slice, sliceGpu } from "./clusterBuilder.ts";
import { defaultSettings, joined, nodeOf, snapshotOf } from "./outcomes.ts";

const capacity = { "nvidia.com/gpu": 8 };
const karpenter = (name: string, gpu: string, instanceType: string) =>
  node(name, {
    capacity,
    labels: { "karpenter.k8s.aws/instance-gpu-name": gpu, "node.kubernetes.io/instance-type": instanceType },
  });
const poolsOf = (parts: Parameters<typeof snapshotOf>[0]) =>
  Object.fromEntries(snapshotOf(parts).nodes.map(({ name, pools }) => [name, pools.join()]));

describe("the model of a node's GPUs", () => {
  it("is one, however Karpenter, GFD and telemetry spell it", () => {
    const nodes = [
      gpuNode("gfd", 8),
      karpenter("typed", "h100", "p5.48xlarge"),
      karpenter("seen", "h100", "p9.48xlarge"),
    ];
    const physicalGpus = Array.from({ length: 8 }, (_, i) => ({
      ...reading(`GPU-${i}`, 0),
      modelName: "NVIDIA H100 80GB HBM3",
    }));
    const pools = poolsOf({ nodes, telemetry: [page("seen", physicalGpus)] });
    expect(pools).toEqual({ gfd: "H100-80GB-HBM3", typed: "H100-80GB-HBM3", seen: "H100-80GB-HBM3" });
  });

  it("is an A100 of 40 or of 80 GB by the instance type, where a label says a100 alone", () => {
    const pools = poolsOf({
      nodes: [karpenter("d", "a100", "p4d.24xlarge"), karpenter("de", "a100", "p4de.24xlarge")],
    });
    expect(pools).toEqual({ d: "A100-SXM4-40GB", de: "A100-SXM4-80GB" });
  });

  it("is the label's where nothing says it better, and stays what a page has said", () => {
    const object = karpenter("n", "h100", "p9.48xlarge");
    expect(poolsOf({ nodes: [object] })).toEqual({ n: "H100" });
    const physicalGpus = Array.from({ length: 8 }, (_, i) => ({
      ...reading(`GPU-${i}`, 0),
      modelName: "NVIDIA H100 80GB HBM3",
    }));
    const first = joined({ nodes: [object], telemetry: [page("n", physicalGpus)] });
    const { snapshot } = joined({ nodes: [object] }, defaultSettings, first.memory, now + 30);
    expect(nodeOf(snapshot, "n").pools).toEqual(["H100-80GB-HBM3"]);
  });

  it.each([
    ["EKS Auto", { "eks.amazonaws.com/instance-gpu-name": "l4" }, "L4"],
    ["AMD", { "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM" }, "AMD-Instinct-MI300X-OAM"],
    ["Alibaba Cloud", { "aliyun.accelerator/nvidia_name": "NVIDIA-A10" }, "A10"],
  ])("is read from the label of %s", (_who, labels, model) => {
    expect(poolsOf({ nodes: [node("n", { capacity, labels })] })).toEqual({ n: model });
  });

  it.each([
    ["nvidia.com/GA102GL_A10", "A10"],
    ["nvidia.com/TU104GL_Tesla_T4", "T4"],
    ["nvidia.com/NVIDIA_A10-12Q", "A10"],
    ["nvidia.com/GRID_T4-1Q", "T4"],
    ["habana.ai/gaudi", "Gaudi"],
    ["google.com/tpu", "TPU"],
  ])("is read from resource %s where no label says", (resource, model) => {
    expect(poolsOf({ nodes: [node("n", { capacity: { [resource]: 4 } })] })).toEqual({ n: model });
  });

  it("is the driver's under DRA", () => {
    expect(poolsOf({ nodes: [node("n")], resourceSlices: [slice("n", [sliceGpu("gpu-0", "GPU-0")])] })).toEqual({
      n: "H100-80GB-HBM3",
    });
  });
});
