import { describe, expect, it } from "vitest";
import { createApplicationErrors } from "../../exporter/accounts/applicationErrors.ts";
import type { Device, Holding } from "../../exporter/join/snapshot.ts";
import { applicationErrorOf, xidClassOf } from "../../exporter/model/gpuFaults.ts";
import { device, holding, moment, nodeView, podView } from "../analysis/momentBuilder.ts";
import { bareReading } from "../join/clusterBuilder.ts";

const pods = [podView({ team: "ads" }), podView({ name: "other", team: "speech" })];
const ads = holding({ pod: 0 });
const speech = holding({ pod: 1 });

/** A GPU that shows this error; `null`: its page is missing. */
const gpu = (code: number | null, holders: readonly Holding[] = [ads], parts: Partial<Device> = {}): Device =>
  device({ uuid: "GPU-1", holders, reading: code === null ? null : bareReading("GPU-1", { lastXid: code }), ...parts });

const snapshotOf = (devices: readonly Device[]) =>
  moment({ nodes: [nodeView({ devices: devices.map((_, i) => i) })], devices, pods });

/** What is counted after these moments, each of some devices. */
function counted(...moments: readonly (readonly Device[])[]): Readonly<Record<string, number>> {
  const account = createApplicationErrors(10_000, (team) => team);
  for (const devices of moments) account.see(snapshotOf(devices));
  const found = account.totals().filter(({ value }) => value > 0);
  return Object.fromEntries(found.map(({ labels, value }) => [`${labels.team} ${labels.error}`, value]));
}

describe("XID errors that blame the job", () => {
  it.each([
    [13, "exception"],
    [31, "memory_fault"],
    [43, "stopped"],
    [45, "stopped"],
    [68, "other"],
  ])("%d is counted once, for the team that held the GPU, however long it is shown", (code, error) => {
    expect(xidClassOf(code)).toBe("application");
    expect(applicationErrorOf(code)).toBe(error);
    expect(counted([gpu(0)], [gpu(code)], [gpu(code)], [gpu(code)])).toEqual({ [`ads ${error}`]: 1 });
  });

  it.each([48, 63, 79, 94, 109, 154, 999])("are not %d, which is no error of the application", (code) => {
    expect(counted([gpu(0)], [gpu(code)])).toEqual({});
  });

  it("are counted again when the GPU shows another one, or the same after its exporter has restarted", () => {
    expect(counted([gpu(0)], [gpu(31)], [gpu(13)])).toEqual({ "ads memory_fault": 1, "ads exception": 1 });
    expect(counted([gpu(0)], [gpu(31)], [gpu(0)], [gpu(31)])).toEqual({ "ads memory_fault": 2 });
  });

  it.each<readonly [why: string, moments: readonly (readonly Device[])[]]>([
    ["was there at the first look, and has no date", [[gpu(31)], [gpu(31)]]],
    ["is there when a page comes for the first time", [[gpu(null)], [gpu(31)]]],
    ["is of a GPU without telemetry of errors", [[gpu(null)], [gpu(null)]]],
    ["is of a GPU that was not there before", [[], [gpu(31)]]],
    ["nobody held the GPU", [[gpu(0, [])], [gpu(31, [])]]],
    ["two teams shared the GPU", [[gpu(0, [ads, speech])], [gpu(31, [ads, speech])]]],
    ["another team holds the GPU already, and either may have caused it", [[gpu(0)], [gpu(31, [speech])]]],
    ["it is not sure who held the GPU", [[gpu(0)], [gpu(31, [{ ...ads, estimated: true }])]]],
  ])("is not counted where it %s", (_why, moments) => {
    expect(counted(...moments)).toEqual({});
  });

  it("is counted for a job that ended with it between two looks", () => {
    expect(counted([gpu(0)], [gpu(43, [])])).toEqual({ "ads stopped": 1 });
  });

  it("is not counted again when its page comes back", () => {
    expect(counted([gpu(0)], [gpu(31)], [gpu(null)], [gpu(31)])).toEqual({ "ads memory_fault": 1 });
  });

  it("is one of a GPU with several instances, if all are of one team", () => {
    const cut = (code: number, second: Holding) =>
      [ads, second].map((holder, i) => gpu(code, [{ ...holder, share: 0.5 }], { gpuInstance: `${i}`, weight: 0.5 }));
    expect(counted(cut(0, ads), cut(31, ads))).toEqual({ "ads memory_fault": 1 });
    expect(counted(cut(0, speech), cut(31, speech))).toEqual({});
  });

  it("has a series at 0 for every team that holds GPUs, where telemetry reports errors, and none elsewhere", () => {
    const series = (devices: readonly Device[]) => {
      const account = createApplicationErrors(10_000, (team) => team);
      account.announce(snapshotOf(devices), [{ team: "ads" }, { team: null }, { team: "ads" }]);
      return account.totals().map(({ labels, value }) => `${labels.team} ${labels.error} ${value}`);
    };
    expect(series([gpu(0)])).toEqual(["ads exception 0", "ads memory_fault 0", "ads stopped 0", "ads other 0"]);
    expect(series([gpu(null)])).toEqual([]);
  });
});

describe("the pod whose program had an error", () => {
  const named = [podView({ uid: "first", team: "ads" }), podView({ uid: "next", team: "ads" })];
  const next = holding({ pod: 1 });
  /** Who has an error after a moment in which the GPU had none. */
  const blamed = (before: readonly Holding[], after: readonly Holding[]) => {
    const account = createApplicationErrors(10_000, (team) => team);
    account.see({ ...snapshotOf([gpu(0, before)]), pods: named });
    account.see({ ...snapshotOf([gpu(31, after)]), pods: named });
    return ["first", "next"].filter((uid) => account.errorOf(uid)?.error === "memory_fault");
  };

  it("is the one that held the GPU alone, and before the next one of the same team", () => {
    expect(blamed([ads], [ads])).toEqual(["first"]);
    expect(blamed([ads], [])).toEqual(["first"]);
    expect(blamed([ads], [next])).toEqual(["first"]);
    expect(blamed([], [next])).toEqual(["next"]);
  });

  it("is nobody where two share the GPU, or it is not sure who holds it", () => {
    expect(blamed([ads, next], [ads, next])).toEqual([]);
    expect(blamed([{ ...ads, estimated: true }], [{ ...ads, estimated: true }])).toEqual([]);
  });
});
