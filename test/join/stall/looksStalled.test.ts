import { describe, expect, it } from "vitest";
import { canonicalModel } from "../../../exporter/join/gpuModel.ts";
import { gpuPowerTable, powerRangeOf } from "../../../exporter/join/stall/gpuPower.ts";
import { looksStalled } from "../../../exporter/join/stall/looksStalled.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { bareReading } from "../clusterBuilder.ts";

/** An H100 whose kernel waits for a collective that never comes, as an exporter with its default counters shows it. */
const hung: Partial<DeviceReading> = {
  gpuUtil: 1,
  grEngineActive: 1,
  tensorActive: 0,
  dramActive: 0.001,
  memoryCopyUtil: 0,
  movedBytesPerSecond: 350_000,
  powerWatts: 121,
};

function judged(parts: Partial<DeviceReading>, model = "NVIDIA H100 80GB HBM3", configured = {}): boolean {
  const canonical = canonicalModel(model) ?? "";
  return looksStalled(bareReading("GPU-0", { ...hung, ...parts }), () => powerRangeOf(canonical, configured));
}

describe("a GPU that looks busy and computes nothing", () => {
  /** Power at a hang that people published, by GPU (reference: activity-health, section 2). */
  it.each([
    ["NVIDIA GB200", 232],
    ["NVIDIA GB200", 281],
    ["NVIDIA H100 80GB HBM3", 100],
    ["NVIDIA H100 80GB HBM3", 121],
    ["NVIDIA H100 80GB HBM3", 152],
    ["NVIDIA B200", 259],
    ["NVIDIA B200", 279],
    ["NVIDIA L40S", 94],
    ["NVIDIA L40S", 97],
    ["Tesla V100-SXM2-16GB", 65],
    ["Tesla V100-SXM2-16GB", 76],
  ])("%s at %d W", (model, powerWatts) => {
    expect(judged({ powerWatts }, model)).toBe(true);
  });

  /** Power of GPUs that work, published too (section 3), and of loaded ones that do nothing. */
  it.each([
    ["NVIDIA H100 80GB HBM3", 253],
    ["NVIDIA GB200", 984],
    ["Tesla V100-SXM2-16GB", 180],
    ["NVIDIA A40", 110],
    ["NVIDIA L4", 72],
    ["Tesla T4", 60],
  ])("is not a %s at %d W", (model, powerWatts) => {
    expect(judged({ powerWatts }, model)).toBe(false);
  });

  it("is seen by SM_ACTIVE or GPU_UTIL alone", () => {
    expect(judged({ gpuUtil: null, grEngineActive: null, smActive: 1 })).toBe(true);
    expect(judged({ grEngineActive: null, tensorActive: 0.001 })).toBe(true);
    expect(judged({ gpuUtil: null })).toBe(true);
  });

  it.each<readonly [why: string, parts: Partial<DeviceReading>]>([
    ["without the tensor pipe nothing is known", { tensorActive: null }],
    ["without DRAM nothing is known", { dramActive: null }],
    ["without power nothing is known", { powerWatts: null }],
    ["it does not look busy", { gpuUtil: 0.7, grEngineActive: 0.7 }],
    ["small kernels with pauses between them, at a GPU_UTIL of 100 %", { grEngineActive: 0.4 }],
    ["the tensor cores work", { tensorActive: 0.3 }],
    ["memory-bound work", { dramActive: 0.6 }],
    ["FP64 or integer codes", { pipeActive: 0.4 }],
    ["such codes without the fields: by power", { powerWatts: 600 }],
    ["memory is copied", { memoryCopyUtil: 0.2 }],
    ["bytes move", { movedBytesPerSecond: 2e9 }],
    ["it decodes", { decoderUtil: 0.5 }],
    ["it encodes", { encoderUtil: 0.5 }],
    ["a locked profiler", { grEngineActive: 0, tensorActive: 0, dramActive: 0 }],
    ["a profiler that may be locked", { grEngineActive: null, tensorActive: 0, dramActive: 0 }],
    ["it is slowed down by heat", { clockEventReasons: 0x40 }],
    ["its power is capped", { clockEventReasons: 0x4 }],
    ["a limit that is set leaves less power", { powerLimitWatts: 300, powerWatts: 121 }],
    ["a MIG instance", { gpuInstance: "7" }],
  ])("is not one: %s", (_why, parts) => {
    expect(judged(parts)).toBe(false);
  });

  it("is one with idle or set clocks, and below a lower limit", () => {
    expect(judged({ clockEventReasons: 0x1 | 0x2 | 0x10 })).toBe(true);
    expect(judged({ powerLimitWatts: 300, powerWatts: 100 })).toBe(true);
    expect(judged({ powerLimitWatts: 0 })).toBe(true);
  });

  it("is judged only where its model's power is known, by the table or by the configuration", () => {
    expect(judged({}, "NVIDIA H900")).toBe(false);
    expect(judged({}, "NVIDIA H900", { H900: { idleWatts: 50, fullWatts: 700 } })).toBe(true);
    expect(judged({}, "NVIDIA H100 80GB HBM3", { "H100-80GB-HBM3": { idleWatts: 50, fullWatts: 300 } })).toBe(false);
    expect(judged({}, "constructor")).toBe(false);
  });

  it("has a table of canonical names, each once, with idle below full", () => {
    const models = gpuPowerTable.flatMap((row) => row.models);
    expect(models.map((model) => canonicalModel(`NVIDIA ${model}`))).toEqual(models);
    expect(new Set(models).size).toBe(models.length);
    for (const { idleWatts, fullWatts, source } of gpuPowerTable) {
      expect(idleWatts).toBeLessThan(fullWatts);
      expect(source).not.toBe("");
    }
  });
});
