import { describe, expect, it } from "vitest";
import {
  degradedCauses,
  healthCauses,
  unavailableCauses,
  xidCauseOf,
  xidClassOf,
} from "../../exporter/model/gpuFaults.ts";

describe("XID errors by NVIDIA's catalog", () => {
  it.each([
    [13, "application"],
    [31, "application"],
    [43, "application"],
    [45, "application"],
    [68, "application"],
    [48, "ecc"],
    [94, "ecc"],
    [95, "ecc"],
    [140, "ecc"],
    [63, "remap_pending"],
    [64, "remap_failed"],
    [74, "nvlink"],
    [149, "nvlink"],
    [79, "gpu_lost"],
    [109, "gpu_reset"],
    [119, "gpu_reset"],
    [158, "gpu_reset"],
    [999, "xid_other"],
  ])("%d is %s", (code, name) => {
    expect(xidClassOf(code)).toBe(name);
  });

  it("0, 154 and an unknown code are no fault of their own", () => {
    expect([0, 154, null].map(xidClassOf)).toEqual([null, null, null]);
  });

  it("application errors are never a cause of lost time; 109, which the device plugin ignores, is one where the objects say so", () => {
    expect([13, 31, 43, 45].map(xidCauseOf)).toEqual([null, null, null, null]);
    expect(xidCauseOf(109)).toBe("gpu_reset");
  });

  it("no value is both a cause of lost and of slow time", () => {
    expect(new Set(healthCauses).size).toBe(unavailableCauses.length + degradedCauses.length);
  });
});
