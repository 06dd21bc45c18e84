import { expect, it } from "vitest";
import { canonicalModel } from "../../exporter/join/gpuModel.ts";
import { gpusOfInstanceType, modelOfInstanceType } from "../../exporter/join/instanceTypes.ts";
import { tableRows } from "../../exporter/sources/prices/table.ts";

it.each([
  ["p6-b300.48xlarge", 8, "B300"],
  // 18 of them are one NVL72.
  ["p6e-gb200.36xlarge", 4, "GB200"],
  ["g7e.2xlarge", 1, "RTX-PRO-6000-Blackwell-Server-Edition"],
  ["g7e.48xlarge", 8, "RTX-PRO-6000-Blackwell-Server-Edition"],
  ["gr6.4xlarge", 1, "L4"],
  ["a4x-highgpu-4g", 4, "GB200"],
  ["a4x-maxgpu-4g-metal", 4, "GB300"],
  ["a2-highgpu-8g", 8, "A100-SXM4-40GB"],
  ["a2-ultragpu-8g", 8, "A100-SXM4-80GB"],
  ["Standard_NC40ads_H100_v5", 1, "H100-NVL"],
  ["Standard_NC80adis_H100_v5", 2, "H100-NVL"],
  ["Standard_NC6s_v3", 1, "V100-PCIE-16GB"],
  ["Standard_NC12s_v3", 2, "V100-PCIE-16GB"],
  ["Standard_NC24s_v3", 4, "V100-PCIE-16GB"],
  ["Standard_NC4as_T4_v3", 1, "T4"],
  ["Standard_NC64as_T4_v3", 4, "T4"],
  ["Standard_NV36ads_A10_v5", 1, "A10"],
  ["Standard_ND128isr_NDR_GB200_v6", 4, "GB200"],
  ["Standard_ND128isr_GB300_v6", 4, "GB300"],
  ["BM.GPU.H100.8", 8, "H100-80GB-HBM3"],
  ["BM.GPU.GB200-v2.4", 4, "GB200"],
  ["BM.GPU4.8", 8, "A100-SXM4-40GB"],
  ["BM.GPU.A100-v2.8", 8, "A100-SXM4-80GB"],
  ["VM.GPU.A10.2", 2, "A10"],
])("%s has %i %s", (instanceType, gpus, model) => {
  expect(gpusOfInstanceType(instanceType)).toBe(gpus);
  expect(modelOfInstanceType(instanceType)).toBe(model);
});

// Parts of a GPU, other vendors, CPU alone, and names of what every object has.
it.each([
  "g6f.xlarge",
  "gr6f.4xlarge",
  "Standard_NV6ads_A10_v5",
  "g4-standard-12",
  "BM.GPU.MI300X.8",
  "m5.large",
  "constructor",
])("%s says nothing", (instanceType) => {
  expect(gpusOfInstanceType(instanceType)).toBeNull();
  expect(modelOfInstanceType(instanceType)).toBeNull();
});

it("spells models as the cluster's are", () => {
  const types = tableRows.flatMap(({ instanceType }) => instanceType ?? []);
  for (const model of types.map(modelOfInstanceType)) if (model !== null) expect(canonicalModel(model)).toBe(model);
  expect(gpusOfInstanceType(undefined)).toBeNull();
});
