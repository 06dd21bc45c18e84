import { describe, expect, it } from "vitest";
import { gpuLikeResource } from "../../exporter/model/gpuResource.ts";

describe("a resource that looks like a GPU", () => {
  it.each([
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/mig-1g.10gb",
    "nvidia.com/mig-1g.10gb.me",
    "nvidia.com/a100-training",
    "nvidia.com/pgpu",
    "nvidia.com/GA102GL_A10",
    "amd.com/gpu",
    "amd.com/cpx_nps4",
    "gpu.intel.com/i915",
    "habana.ai/gaudi",
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
