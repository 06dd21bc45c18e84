import { describe, expect, it } from "vitest";
import { gpuLikeResource, gpuResourceOf, isUnknownNvidiaResource } from "../../exporter/model/gpuResource.ts";

describe("a resource that looks like a GPU", () => {
  it.each([
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/mig-1g.10gb",
    "nvidia.com/mig-1g.10gb.me",
    "nvidia.com/mig-1g.24gb.me.all",
    "nvidia.com/mig-1g.10gb.shared",
    "nvidia.com/pgpu",
    "nvidia.com/GA102GL_A10",
    "nvidia.com/TU104GL_Tesla_T4",
    "nvidia.com/GB202GL_RTX_PRO_6000_BLACKWELL_SERVER_EDITION",
    "nvidia.com/NVIDIA_A10-12Q",
    "nvidia.com/GRID_T4-1Q",
    "nvidia.com/NVIDIA_A100-3-20C",
    "volcano.sh/vgpu-number",
    "aliyun.com/gpu-mem",
    "amd.com/gpu",
    "amd.com/cpx_nps4",
    "gpu.intel.com/i915",
    "habana.ai/gaudi",
    "google.com/tpu",
    "aws.amazon.com/neuron",
  ])("is %s", (name) => {
    expect(gpuLikeResource(name)).toBe(true);
  });

  it.each([
    "nvidia.com/",
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/priority",
    "nvidia.com/imex-channel",
    "nvidia.com/hostdev",
    "nvidia.com/rdma_shared_device_a",
    "nvidia.com/resibp24s0",
    "nvidia.com/bf3_p0_vfs",
    "nvidia.com/nvswitch",
    "nvidia.com/GA100_NVSWITCH",
    "nvidia.com/GA102_HIGH_DEFINITION_AUDIO_CONTROLLER",
    "nvidia.com/a100-training",
    "volcano.sh/vgpu-memory",
    "aliyun.com/gpu-count",
    "aws.amazon.com/neuronmonitor",
    "nvidia.community/gpu",
    "amd.com/cpu",
    "cpu",
    "memory",
    "example.com/gpu",
  ])("is not %s", (name) => {
    expect(gpuLikeResource(name)).toBe(false);
  });

  it("is whatever configuration names", () => {
    expect(gpuLikeResource("example.com/gpu", new Set(["example.com/gpu"]))).toBe(true);
  });
});

describe("a unit of a resource", () => {
  it.each([
    ["nvidia.com/pgpu", 1],
    ["nvidia.com/NVIDIA_A10-12Q", 12 / 24],
    ["nvidia.com/GRID_T4-1Q", 1 / 16],
    ["nvidia.com/GRID_P40-0B", 0.5 / 24],
    ["nvidia.com/NVIDIA_A100-3-20C", 20 / 40],
    ["nvidia.com/NVIDIA_A100D-1-10C", 10 / 80],
    ["nvidia.com/NVIDIA_RTX_PRO_6000_BLACKWELL_DC-24Q", 24 / 96],
    ["nvidia.com/NVIDIA_Z900-4Q", null],
    ["amd.com/spx_nps1", 1],
    ["amd.com/cpx_nps4", null],
    ["nvidia.com/gpu", "node"],
  ] as const)("%s is %s of a GPU by its name", (name, part) => {
    expect(gpuResourceOf(name)?.unit).toBe(part);
  });

  it("belongs to its vendor", () => {
    const names = ["nvidia.com/gpu", "volcano.sh/vgpu-number", "amd.com/gpu", "gpu.intel.com/xe", "google.com/tpu"];
    expect(names.map((name) => gpuResourceOf(name)?.vendor)).toEqual(["nvidia", "nvidia", "amd", "intel", "google"]);
  });
});

describe("a name of NVIDIA", () => {
  it.each(["nvidia.com/a100-training", "nvidia.com/thing"])("%s may be anything", (name) => {
    expect(isUnknownNvidiaResource(name)).toBe(true);
  });

  it.each([
    "nvidia.com/gpu",
    "nvidia.com/resibp24s0",
    "nvidia.com/bf3_p0_vfs",
    "nvidia.com/nvswitch",
    "nvidia.com/gpumem",
    "rdma/hca",
  ])("%s is known, or not NVIDIA's", (name) => {
    expect(isUnknownNvidiaResource(name)).toBe(false);
  });
});
