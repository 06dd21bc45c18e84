import { describe, expect, it } from "vitest";
import { withoutLockedZeros } from "../../exporter/join/lockedInstances.ts";
import { powerRangeOf } from "../../exporter/join/stall/gpuPower.ts";
import type { DeviceReading } from "../../exporter/model/telemetry.ts";
import { bareReading } from "./clusterBuilder.ts";

const model = "A100-SXM4-80GB";
const zeros = { grEngineActive: 0, dramActive: 0, tensorActive: 0, powerWatts: 226 } as const;

const instanceOf = (gpuInstance: string, parts: Partial<DeviceReading> = {}, uuid = "GPU-0"): DeviceReading =>
  bareReading(uuid, { gpuInstance, profile: "3g.40gb", ...zeros, ...parts });

/** What is left of the activity of each reading. */
function left(readings: readonly DeviceReading[], of = model): readonly (number | null)[] {
  const devices = readings.map(({ gpuInstance }, row) => ({ gpuInstance, model: of, row }));
  return withoutLockedZeros(readings, devices, (name) => powerRangeOf(name, {})).map((one) => one.grEngineActive);
}

describe("zeros of all instances of a GPU that draws power as it does at work", () => {
  it("are those of a locked profiler, and no activity", () => {
    expect(left([instanceOf("1"), instanceOf("2")])).toEqual([null, null]);
    const [first] = withoutLockedZeros([instanceOf("1")], [{ gpuInstance: "1", model, row: 0 }], () => ({
      idleWatts: 60,
      fullWatts: 400,
    }));
    expect(first).toMatchObject({ dramActive: null, tensorActive: null, powerWatts: 226 });
  });

  it("are those of that GPU alone", () => {
    const other = instanceOf("1", { powerWatts: 70 }, "GPU-1");
    expect(left([instanceOf("1"), other])).toEqual([null, 0]);
  });
});

describe("zeros are believed", () => {
  it.each<readonly [why: string, readings: readonly DeviceReading[], of: string]>([
    ["where another instance works", [instanceOf("1"), instanceOf("2", { grEngineActive: 0.9 })], model],
    ["where another instance reads memory", [instanceOf("1"), instanceOf("2", { dramActive: 0.001 })], model],
    ["where the GPU draws little", [instanceOf("1", { powerWatts: 128 }), instanceOf("2", { powerWatts: 128 })], model],
    ["where its power is not known", [instanceOf("1", { powerWatts: null })], model],
    ["where nobody knows the power of its model", [instanceOf("1")], "H900"],
    ["of a whole GPU, whose GPU_UTIL reveals a locked profiler", [bareReading("GPU-0", zeros)], model],
  ])("%s", (_why, readings, of) => {
    expect(left(readings, of)).toEqual(readings.map(({ grEngineActive }) => grEngineActive));
  });

  it("and a page without profiling fields has none to be doubted", () => {
    const bare = [bareReading("GPU-0", { gpuInstance: "1", powerWatts: 226 })];
    const devices = [{ gpuInstance: "1", model, row: 0 }];
    expect(withoutLockedZeros(bare, devices, (name) => powerRangeOf(name, {}))).toBe(bare);
  });
});
