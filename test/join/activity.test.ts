import { describe, expect, it } from "vitest";
import { activityOf, chooseSignal, isIdle, profilingIsBroken } from "../../exporter/join/activity.ts";
import { bareReading, gpuNode, instance, page } from "./clusterBuilder.ts";
import { codes, snapshotOf, withGpu } from "./outcomes.ts";

const all = bareReading("GPU-all", { smActive: 0.3, grEngineActive: 0.4, gpuUtil: 0.5 });
const utilOnly = bareReading("GPU-util", { gpuUtil: 0.5 });
const many = (count: number, reading: typeof all) => Array.from({ length: count }, () => reading);

describe("the activity signal", () => {
  it("is the best one that at least 95 % of the devices have", () => {
    expect(chooseSignal([...many(95, all), ...many(5, utilOnly)], "auto")).toBe("sm_active");
    expect(chooseSignal([...many(94, all), ...many(6, utilOnly)], "auto")).toBe("gpu_util");
    const gr = bareReading("GPU-gr", { grEngineActive: 0.4, gpuUtil: 0.5 });
    expect(chooseSignal([...many(90, all), ...many(6, gr), ...many(4, utilOnly)], "auto")).toBe("gr_engine_active");
  });

  it("is the one that most have, where none has 95 %", () => {
    const migs = many(6, instance("GPU-m", "1", "1g.10gb", 0.1));
    expect(chooseSignal([...migs, ...many(4, utilOnly)], "auto")).toBe("gr_engine_active");
  });

  it("a setting fixes it; a device without it uses its own best", () => {
    expect(chooseSignal([all], "gpu_util")).toBe("gpu_util");
    expect(activityOf(all, "gpu_util")).toEqual({ activity: 0.5, signal: "gpu_util" });
    expect(activityOf(instance("GPU-m", "1", "1g.10gb", 0.1), "gpu_util")).toEqual({
      activity: 0.1,
      signal: "gr_engine_active",
    });
  });

  it("is none without telemetry", () => {
    expect(chooseSignal([], "auto")).toBeNull();
    expect(chooseSignal([], "sm_active")).toBeNull();
    expect(chooseSignal([bareReading("GPU-0")], "auto")).toBeNull();
  });

  it("GPU_UTIL says nothing of a MIG instance: neither activity nor idleness", () => {
    const mig = bareReading("GPU-0", { gpuInstance: "1", profile: "1g.10gb", gpuUtil: 0 });
    expect(activityOf(mig, "gpu_util")).toBeNull();
    expect(isIdle(mig, 0.05)).toBeNull();
    expect(isIdle({ ...mig, gpuUtil: 0.9, grEngineActive: 0 }, 0.05)).toBe(true);
  });

  it("is idle only when every signal the device has is at most the threshold", () => {
    expect(isIdle(bareReading("GPU-0", { smActive: 0.05, decoderUtil: 0.05 }), 0.05)).toBe(true);
    for (const signal of ["smActive", "grEngineActive", "gpuUtil", "dramActive", "encoderUtil", "decoderUtil"])
      expect(isIdle(bareReading("GPU-0", { smActive: 0, [signal]: 0.051 }), 0.05)).toBe(false);
  });

  it("is the same for all devices, and of each device where it must differ", () => {
    const telemetry = [page("n", [...Array.from({ length: 19 }, (_, i) => ({ ...all, uuid: `GPU-${i}` })), utilOnly])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 20)], telemetry });
    expect(snapshot.signal).toBe("sm_active");
    expect(snapshot.devices.find((device) => device.uuid === "GPU-util")).toMatchObject({
      signal: "gpu_util",
      activity: 0.5,
    });
    expect(snapshotOf({ nodes: [gpuNode("n", 20)], telemetry }, withGpu({ signal: "gpu_util" })).signal).toBe(
      "gpu_util",
    );
  });
});

describe("broken profiling", () => {
  const stuck = bareReading("GPU-0", { smActive: 0, grEngineActive: 0, gpuUtil: 0.99 });

  it("counters stuck at 0 while GPU_UTIL is high: GPU_UTIL is used for that device, and it is said so", () => {
    const telemetry = [page("n", [stuck, { ...all, uuid: "GPU-1" }])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], telemetry });
    expect(snapshot.signal).toBe("sm_active");
    expect(snapshot.devices.map(({ signal, activity }) => [signal, activity])).toEqual([
      ["gpu_util", 0.99],
      ["sm_active", 0.3],
    ]);
    expect(codes(snapshot)).toContain("profiling-broken");
  });

  it("is not suspected of a device that is quiet, of one with a counter above 0, or of a MIG instance", () => {
    expect(profilingIsBroken(stuck)).toBe(true);
    expect(profilingIsBroken({ ...stuck, gpuUtil: 0.49 })).toBe(false);
    expect(profilingIsBroken({ ...stuck, grEngineActive: 0.156 })).toBe(false);
    expect(profilingIsBroken({ ...stuck, gpuInstance: "1" })).toBe(false);
    expect(profilingIsBroken({ ...stuck, smActive: null, grEngineActive: null })).toBe(false);
  });
});
