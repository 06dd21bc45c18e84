import { describe, expect, it } from "vitest";
import { measureSignals } from "../../../exporter/analysis/signals/measureSignals.ts";
import { workRatios } from "../../../exporter/analysis/signals/workSums.ts";
import type { Device } from "../../../exporter/join/snapshot.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { bareReading } from "../../join/clusterBuilder.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

const model = "H100-80GB-HBM3";

/** A GPU with these readings that a pod holds alone. */
const held = (pod: number, reading: Partial<DeviceReading> | null, parts: Partial<Device> = {}): Device =>
  device({
    model,
    reading: reading === null ? null : bareReading("GPU-0", reading),
    holders: [holding({ pod })],
    ...parts,
  });

const pods = [podView(), podView({ name: "other", team: "ads" }), podView({ name: "third" })];

function measured(devices: readonly Device[], power = {}) {
  const nodes = [nodeView({ physicalGpus: devices.length, devices: devices.map((_, i) => i) })];
  return measureSignals(moment({ nodes, devices, pods }), { power });
}

const full = { grEngineActive: 1, tensorActive: 0.4, dramActive: 0.2, powerWatts: 350 };
const ratiosOf = (devices: readonly Device[], power = {}) => {
  const [pool] = measured(devices, power).pools;
  return pool === undefined ? undefined : workRatios(pool.work);
};

describe("how hard allocated GPUs work", () => {
  it("is the mean over the GPUs of each team that report it, and the pool's is that of all", () => {
    const { teams, pools } = measured([
      held(0, full),
      held(2, { ...full, tensorActive: 0.8, powerWatts: 700 }),
      held(1, { ...full, tensorActive: 0 }),
    ]);
    expect(teams.map(({ team, work }) => [team, workRatios(work)])).toEqual([
      ["ads", { tensorActive: 0, dramActive: 0.2, power: 0.5 }],
      ["vision", { tensorActive: 0.6000000000000001, dramActive: 0.2, power: 0.75 }],
    ]);
    expect(pools.map(({ work }) => workRatios(work).tensorActive)).toEqual([0.4000000000000001]);
  });

  it("leaves a GPU that does not report a signal out of its mean, and never counts it as 0", () => {
    expect(ratiosOf([held(0, full), held(0, { gpuUtil: 1 })])).toEqual({
      tensorActive: 0.4,
      dramActive: 0.2,
      power: 0.5,
    });
    expect(ratiosOf([held(0, { gpuUtil: 1 }), held(0, null)])).toEqual({
      tensorActive: null,
      dramActive: null,
      power: null,
    });
  });

  it("does not believe the zeros of a locked profiler, but the power beside them", () => {
    const locked = { gpuUtil: 1, grEngineActive: 0, tensorActive: 0, dramActive: 0, powerWatts: 350 };
    expect(ratiosOf([held(0, locked)])).toEqual({ tensorActive: null, dramActive: null, power: 0.5 });
  });

  it("does not count shared GPUs, uncertain holders and GPUs that nobody holds", () => {
    const shared = held(0, full, { holders: [holding({ share: 0.5 }), holding({ pod: 1, share: 0.5 })] });
    const uncertain = held(0, full, { holders: [holding({ estimated: true })] });
    expect(ratiosOf([shared, uncertain, held(0, full, { holders: [] })])).toEqual({
      tensorActive: null,
      dramActive: null,
      power: null,
    });
  });

  it("takes a MIG instance's tensor cores, and not its GPU's power", () => {
    const instance = held(0, full, { gpuInstance: "3", weight: 0.5, holders: [holding({ share: 0.5 })] });
    expect(ratiosOf([instance])).toEqual({ tensorActive: 0.4, dramActive: 0.2, power: null });
  });

  it.each([
    ["half of a limit that is set below the model's full power is half", full, { powerLimitWatts: 700 }, {}, 0.5],
    ["a GPU that is capped at what it draws works fully", full, { powerLimitWatts: 350 }, {}, 1],
    ["a limit of 0 is no limit", full, { powerLimitWatts: 0 }, {}, 0.5],
    ["the configured full power goes first", full, {}, { [model]: { idleWatts: 70, fullWatts: 500 } }, 0.7],
  ])("%s", (_why, reading, limit, power, expected) => {
    expect(ratiosOf([held(0, { ...reading, ...limit })], power)?.power).toBe(expected);
  });

  it("knows the power ratio of an unlisted model by its limit alone", () => {
    expect(ratiosOf([held(0, full, { model: "L4" })])?.power).toBeNull();
    expect(ratiosOf([held(0, { ...full, powerLimitWatts: 700 }, { model: "L4" })])?.power).toBe(0.5);
  });
});

describe("what is not known", () => {
  it.each<readonly [reason: string, device: Device]>([
    ["no_telemetry", held(0, null)],
    ["no_tensor", held(0, { ...full, tensorActive: null })],
    ["no_dram", held(0, { ...full, dramActive: null })],
    ["no_power", held(0, { ...full, powerWatts: null })],
    ["no_engine", held(0, { ...full, grEngineActive: null })],
    ["locked_profiling", held(0, { ...full, gpuUtil: 1, grEngineActive: 0 })],
    ["unknown_model", held(0, full, { model: "L4" })],
    ["shared", held(0, full, { holders: [holding({ share: 0.5 })] })],
    ["shared", held(0, full, { gpuInstance: "1" })],
    ["shared", held(0, full, { holders: [holding({ estimated: true })] })],
  ])("%s", (reason, one) => {
    const [pool] = measured([one]).pools;
    const counted = Object.entries(pool?.stallUnknown ?? {}).filter(([, gpus]) => gpus > 0);
    expect(counted).toEqual([[reason, one.holders[0]?.share]]);
  });

  it("is nothing about a GPU with tensor, DRAM, power and an engine of a known model, or about a free one", () => {
    const [pool] = measured([held(0, full), held(0, null, { holders: [] })]).pools;
    expect(Object.values(pool?.stallUnknown ?? {}).every((gpus) => gpus === 0)).toBe(true);
  });

  it("counts each GPU under every signal that it reports, in pools that mix both", () => {
    const [pool] = measured([held(0, full), held(0, { gpuUtil: 0 }), held(0, null)]).pools;
    expect(pool?.reported).toMatchObject({ tensor_active: 1, power: 1, gpu_util: 1, gr_engine_active: 1, xid: 0 });
  });
});
