import { describe, expect, it } from "vitest";
import { degradedCause } from "../../../exporter/analysis/health/causes.ts";
import { findSickGpus } from "../../../exporter/analysis/health/findSickGpus.ts";
import type { Device, NodeView } from "../../../exporter/join/snapshot.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { bareReading, now } from "../../join/clusterBuilder.ts";
import { analysed } from "../../join/outcomes.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

const read = (parts: Partial<DeviceReading>): DeviceReading => bareReading("GPU-0", { gpuUtil: 0.5, ...parts });

function snapshotOf(devices: readonly Device[], node: Partial<NodeView> = {}) {
  const nodes = [nodeView({ physicalGpus: devices.length, devices: devices.map((_, i) => i), ...node })];
  return moment({ nodes, devices, pods: [podView()] });
}

/** State and cause of each accounting entry. */
const entriesOf = (devices: readonly Device[], node: Partial<NodeView> = {}) =>
  analysed(snapshotOf(devices, node)).accountingEntries.list.map(({ state, cause = null }) => [state, cause]);

const sick = (parts: Partial<DeviceReading> | null, on: Partial<Device> = {}): Device =>
  device({ unhealthy: true, reading: parts === null ? null : read(parts), ...on });
const well = (parts: Partial<DeviceReading>, on: Partial<Device> = {}): Device =>
  device({ uuid: "GPU-1", reading: read(parts), ...on });

describe("why GPUs cannot be used", () => {
  it.each<readonly [why: string, devices: readonly Device[], cause: string]>([
    ["its last XID error", [sick({ lastXid: 94 })], "ecc"],
    [
      "an error that the device plugin ignores, where it is taken out all the same",
      [sick({ lastXid: 109 })],
      "gpu_reset",
    ],
    [
      "an error that NVIDIA's catalog ignores, where it is taken out all the same",
      [sick({ lastXid: 63 })],
      "remap_pending",
    ],
    ["a fault of the application is no cause", [sick({ lastXid: 31 })], "unknown"],
    [
      "remapping that failed goes before remapping that waits",
      [sick({ rowRemapFailure: 1, rowRemapPending: 1 })],
      "remap_failed",
    ],
    ["remapping that waits", [sick({ rowRemapPending: 1 })], "remap_pending"],
    ["DCGM's own check", [sick({ dcgmHealth: 20 })], "dcgm_health"],
    ["a warning of DCGM is no cause", [sick({ dcgmHealth: 10 })], "unknown"],
    ["nothing says why", [sick({})], "unknown"],
    ["its row has vanished from the page", [sick(null), well({})], "gpu_lost"],
    [
      "its row has vanished, which says more than the kubelet does",
      [sick(null, { fault: "pod_status" }), well({})],
      "gpu_lost",
    ],
    ["no page says anything", [sick(null)], "unknown"],
    ["another GPU of the node shows the error, and the API only counts", [sick({}), well({ lastXid: 79 })], "gpu_lost"],
    ["the driver's taint says more than telemetry", [sick({ lastXid: 13 }, { fault: "nvlink" })], "nvlink"],
    ["a taint that says nothing", [sick({}, { fault: "taint" })], "taint"],
    ["a taint beside an XID error", [sick({ lastXid: 48 }, { fault: "taint" })], "ecc"],
    ["the kubelet", [sick({}, { fault: "pod_status" })], "pod_status"],
    ["no driver", [sick(null, { fault: "driver" })], "driver"],
  ])("%s", (_why, devices, cause) => {
    expect(entriesOf(devices)[0]).toEqual(["unavailable", cause]);
  });

  it("a node that is not ready explains its GPUs, whatever errors they show", () => {
    const lost = { ready: false, notReadySince: now - 600 };
    expect(entriesOf([sick({ lastXid: 79 }), well({})], lost)).toEqual([
      ["unavailable", "node"],
      ["unavailable", "node"],
    ]);
  });

  it.each([79, 94, 63, 48])("a last XID error %d of a GPU that the API still offers loses no time", (lastXid) => {
    expect(entriesOf([well({ lastXid })]).every(([state, cause]) => state !== "unavailable" && cause === null)).toBe(
      true,
    );
  });

  it("every unavailable entry has a cause, and no other entry has one of these", () => {
    const entries = entriesOf([sick({ lastXid: 79 }), well({}), well({ clockEventReasons: 0x40 })]);
    expect(entries.every(([state, cause]) => (state === "unavailable") === (cause !== null))).toBe(true);
  });
});

describe("GPUs that are slowed down", () => {
  it.each([
    [0, null],
    [0x1, null],
    [0x2, null],
    [0x4, null],
    [0x10, null],
    [0x8, "hardware_slowdown"],
    [0x20, "thermal"],
    [0x40, "thermal"],
    [0x48, "thermal"],
    [0x80, "power"],
    [0x88, "power"],
    [0x64, "thermal"],
    [0.5, null],
    [1e15, null],
  ])("clock event reasons %d: %s", (clockEventReasons, cause) => {
    expect(degradedCause(read({ clockEventReasons }))).toBe(cause);
  });

  it("are counted where they work, with both parts of their time, and not where nobody holds them or they are idle", () => {
    const hot = read({ clockEventReasons: 0x20 });
    expect(entriesOf([device({ reading: hot, holders: [holding()] })])).toEqual([
      ["active", "thermal"],
      ["underutilized", "thermal"],
    ]);
    expect(entriesOf([device({ reading: hot })])).toEqual([["idle_node", null]]);
    const idle = holding({ activity: 0, idleSince: now - 9000 });
    expect(entriesOf([device({ reading: hot, holders: [idle] })])).toEqual([["idle", null]]);
    expect(degradedCause(null)).toBeNull();
    expect(degradedCause(read({}))).toBeNull();
  });
});

describe("who must be looked after", () => {
  const found = (devices: readonly Device[], node: Partial<NodeView> = {}) =>
    findSickGpus(snapshotOf(devices, node)).map(({ tier, cause, gpus }) => [tier, cause, gpus]);
  const holders = [holding()];

  it.each<readonly [why: string, devices: readonly Device[], expected: unknown]>([
    ["work on a GPU that is lost", [sick({ lastXid: 79 }, { holders })], [["drain", "gpu_lost", 1]]],
    ["a lost GPU that nobody holds", [sick({ lastXid: 79 })], [["today", "gpu_lost", 1]]],
    [
      "work on a GPU that waits for its remapping, and is taken out",
      [sick({ lastXid: 63 }, { holders })],
      [["today", "remap_pending", 1]],
    ],
    [
      "a GPU without spare rows that is still given out",
      [well({ rowRemapFailure: 1 })],
      [["drain", "remap_failed", 1]],
    ],
    ["rows that are remapped at the next reset", [well({ rowRemapPending: 1 })], [["watch", "remap_pending", 1]]],
    ["DCGM's check fails", [well({ dcgmHealth: 20 })], [["today", "dcgm_health", 1]]],
    ["DCGM warns", [well({ dcgmHealth: 10 })], [["watch", "dcgm_health", 1]]],
    ["heat while it works", [well({ clockEventReasons: 0x20 }, { holders })], [["watch", "thermal", 1]]],
    ["heat of a GPU that nobody holds", [well({ clockEventReasons: 0x20 })], []],
    ["a software power cap", [well({ clockEventReasons: 0x4 }, { holders })], []],
    ["a last XID error of the GPU that the API still offers", [well({ lastXid: 79 }, { holders })], []],
    ["a fault of the application", [well({ lastXid: 31 }, { holders })], []],
    ["no telemetry", [device({ reading: null, holders })], []],
  ])("%s", (_why, devices, expected) => {
    expect(found(devices)).toEqual(expected);
  });

  it("leaves GPUs of nodes that are not ready to the alerts about nodes", () => {
    expect(found([sick({ lastXid: 79 }, { holders })], { ready: false, notReadySince: now - 600 })).toEqual([]);
  });

  it("counts the instances of a GPU as one, with the worst of them", () => {
    const instance = (id: string, parts: Partial<Device>) =>
      sick({ lastXid: 95 }, { gpuInstance: id, weight: 0.5, ...parts });
    expect(found([instance("1", {}), instance("2", { holders: [holding({ share: 0.5 })] })])).toEqual([
      ["drain", "ecc", 1],
    ]);
  });
});
