import { describe, expect, it } from "vitest";
import type { ClusterNode } from "../../exporter/model/node.ts";
import {
  allocated,
  claim,
  claimingPod,
  gpuNode,
  instance,
  node,
  now,
  page,
  reading,
  slice,
  sliceGpu,
  sliceMig,
} from "./clusterBuilder.ts";
import { codes, defaultSettings, holdingsOf, joined, nodeOf, snapshotOf, statesOf } from "./outcomes.ts";

const a100 = "NVIDIA-A100-SXM4-80GB";

function mig(capacity: Record<string, number>, product = a100, labels: Record<string, string> = {}): ClusterNode {
  return node("n", { capacity, labels: { "nvidia.com/gpu.product": product, ...labels } });
}

describe("ResourceSlices", () => {
  const dra = (devices: Parameters<typeof slice>[1], parts: Parameters<typeof slice>[2] = {}) =>
    snapshotOf({ nodes: [node("n")], resourceSlices: [slice("n", devices, parts)] });

  it("count GPUs by UUID, and a MIG device counts for its parent", () => {
    const devices = [sliceGpu("gpu-0", "GPU-0"), sliceMig("gpu-1-mig-1g10gb-19-0", "GPU-1", "1g.10gb", "MIG-a")];
    expect(nodeOf(dra(devices), "n").physicalGpus).toBe(2);
  });

  it("do not count the possible instances of a partitionable GPU", () => {
    const possible = Array.from({ length: 14 }, (_, i) => sliceMig(`gpu-0-mig-1g10gb-19-${i}`, "GPU-0", "1g.10gb"));
    const snapshot = dra([sliceGpu("gpu-0", "GPU-0"), ...possible]);
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(1);
    expect(snapshot.devices).toHaveLength(1);
  });

  it("count only entries that are GPUs", () => {
    const channel = { name: "channel-0", attributes: { type: "channel" }, capacity: {}, memorySlices: [], taints: [] };
    expect(nodeOf(dra([sliceGpu("gpu-0", "GPU-0"), channel]), "n").physicalGpus).toBe(1);
    const nic = { name: "eth0", attributes: { type: "nic" }, capacity: {}, memorySlices: [], taints: [] };
    expect(dra([nic], { driver: "dra.net" }).nodes).toEqual([]);
  });

  it("the newest complete generation counts, not the one being written", () => {
    const old = slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceGpu("gpu-1", "GPU-1")], { name: "old" });
    const half = slice("n", [sliceGpu("gpu-0", "GPU-0")], { name: "new", poolGeneration: 2, poolSliceCount: 2 });
    const snapshot = snapshotOf({ nodes: [node("n")], resourceSlices: [half, old] });
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(2);
  });

  it.each([
    ["this device", { pool: "n", device: "gpu-0" }, 1],
    ["every device of the driver", { driver: "gpu.nvidia.com" }, 2],
    ["a device of another node", { pool: "m", device: "gpu-0" }, 0],
    ["those of another driver", { driver: "gpu.amd.com" }, 0],
    ["this device, as a preference", { device: "gpu-0", effect: "PreferNoSchedule" }, 0],
  ] as const)(
    "under a DeviceTaintRule for %s are unavailable where it keeps work away",
    (_what, parts, unavailable) => {
      const { effect = "NoExecute", ...selector } = { effect: undefined, ...parts };
      const rule = { name: "r", driver: null, pool: null, device: null, ...selector };
      const snapshot = snapshotOf({
        nodes: [node("n")],
        resourceSlices: [slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceGpu("gpu-1", "GPU-1")])],
        deviceTaintRules: [{ ...rule, taint: { key: "repair", value: "", effect } }],
      });
      expect(statesOf(snapshot).unavailable ?? 0).toBe(unavailable);
      expect(nodeOf(snapshot, "n")).toMatchObject({ physicalGpus: 2, allocatableGpus: 2 - unavailable });
    },
  );

  it.each([
    ["NVIDIA's taint for an XID error", [{ key: "gpu.nvidia.com/xid", value: "94", effect: "NoSchedule" }], "ecc"],
    [
      "its taint for a fault of the application",
      [{ key: "gpu.nvidia.com/xid", value: "31", effect: "NoSchedule" }],
      "taint",
    ],
    ["its taint for a lost GPU", [{ key: "gpu.nvidia.com/gpu-lost", value: "", effect: "NoSchedule" }], "gpu_lost"],
    ["anybody's", [{ key: "repair", value: "", effect: "NoExecute" }], "taint"],
    ["one that only prefers", [{ key: "gpu.nvidia.com/xid", value: "79", effect: "PreferNoSchedule" }], null],
    ["none", [], null],
  ] as const)("say by their taint why a GPU cannot be used: %s", (_whose, taints, fault) => {
    const [device] = dra([sliceGpu("gpu-0", "GPU-0", { taints })]).devices;
    expect(device).toMatchObject({ unhealthy: fault !== null, fault });
  });

  it("name a GPU that can be passed through twice, and it is one", () => {
    const at = (address: string) => ({ "resource.kubernetes.io/pciBusID": address });
    const whole = sliceGpu("gpu-0", "GPU-0");
    const physicalGpu = { ...whole, attributes: { ...whole.attributes, ...at("0000:65:00.0") } };
    const sibling = { ...whole, name: "gpu-vfio-0", attributes: { type: "vfio", ...at("0000:65:00.0") } };
    const other = { ...whole, name: "gpu-vfio-1", attributes: { type: "vfio", ...at("0000:66:00.0") } };
    expect(nodeOf(dra([physicalGpu, sibling]), "n").physicalGpus).toBe(1);
    expect(nodeOf(dra([sibling, physicalGpu, other]), "n").physicalGpus).toBe(2);
    const snapshot = snapshotOf({
      nodes: [node("n")],
      resourceSlices: [slice("n", [physicalGpu, sibling])],
      pods: [claimingPod("vm", "n", "c")],
      resourceClaims: [claim("c", [allocated("n", "gpu-vfio-0")], ["vm"])],
    });
    expect(holdingsOf(snapshot, "vm")).toMatchObject([{ on: "GPU-0", share: 1 }]);
  });

  it("and the capacity that a kubelet keeps of a device plugin that is gone are not added", () => {
    const physicalGpus = [0, 1, 2, 3].map((i) => sliceGpu(`gpu-${i}`, `GPU-${i}`));
    const moved = node("n", { capacity: { "nvidia.com/gpu": 4 }, allocatable: { "nvidia.com/gpu": 0 } });
    // The page spells UUIDs in its own way, so that none of them is known.
    const telemetry = [
      page(
        "n",
        [0, 1, 2, 3].map((i) => reading(`gpu-fake-${i}`, 0)),
      ),
    ];
    const snapshot = snapshotOf({ nodes: [moved], resourceSlices: [slice("n", physicalGpus)], telemetry });
    expect(nodeOf(snapshot, "n")).toMatchObject({ physicalGpus: 4, allocatableGpus: 4 });
    expect(statesOf(snapshot)).not.toHaveProperty("unavailable");
  });

  const both = {
    nodes: [node("n", { capacity: { "nvidia.com/gpu": 2 } })],
    resourceSlices: [slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceGpu("gpu-1", "GPU-1")])],
  };
  const four = [0, 1, 2, 3].map((i) => reading(`GPU-${i}`, 0));

  it("and a device plugin beside them are a union by UUID", () => {
    const view = nodeOf(snapshotOf({ ...both, telemetry: [page("n", four)] }), "n");
    expect(view).toMatchObject({ physicalGpus: 4, allocatableGpus: 4 });
  });

  it("and a device plugin that offers the same GPUs are not added", () => {
    const view = nodeOf(snapshotOf({ ...both, telemetry: [page("n", four.slice(0, 2))] }), "n");
    expect(view).toMatchObject({ physicalGpus: 2, allocatableGpus: 2 });
  });

  it("a page that is late takes no GPU of the union away", () => {
    const first = joined({ ...both, telemetry: [page("n", four)] });
    const { snapshot } = joined(both, defaultSettings, first.memory, now + 30);
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(4);
    expect(snapshot.devices.filter((device) => device.unhealthy)).toEqual([]);
  });

  it("that could not be read say nothing: remembered GPUs stay, and are not called broken", () => {
    const known = new Set(["nodes", "pods", "namespaces"] as const);
    const first = joined({ nodes: [node("n")], resourceSlices: both.resourceSlices });
    const { snapshot } = joined({ nodes: [node("n")], known }, defaultSettings, first.memory, now + 30);
    expect(statesOf(snapshot)).not.toHaveProperty("unavailable");
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(2);
  });
});

describe("MIG devices", () => {
  const object = mig({ "nvidia.com/mig-3g.40gb": 1, "nvidia.com/mig-1g.10gb": 2 });
  const rows = [
    instance("GPU-0", "1", "3g.40gb", 0.5),
    instance("GPU-0", "2", "1g.10gb", 0),
    instance("GPU-0", "3", "1g.10gb", 0),
  ];

  it("weigh their slices; slices that are in no instance are a part of their own", () => {
    const snapshot = snapshotOf({ nodes: [object], telemetry: [page("n", rows)] });
    expect(snapshot.devices.map((device) => device.weight)).toEqual([1 / 2, 1 / 7, 1 / 7]);
    expect(snapshot.unpartitioned.map((part) => part.weight)).toEqual([expect.closeTo(3 / 14, 12)]);
  });

  it("rows of the whole GPU beside its instances add nothing", () => {
    const snapshot = snapshotOf({ nodes: [object], telemetry: [page("n", [reading("GPU-0", 1), ...rows])] });
    expect(snapshot.devices).toHaveLength(3);
  });

  it("that make more than a GPU are scaled down and reported", () => {
    const stale = [...rows, instance("GPU-0", "9", "4g.40gb", 0)];
    const snapshot = snapshotOf({ nodes: [object], telemetry: [page("n", stale)] });
    expect(snapshot.devices.reduce((sum, device) => sum + device.weight, 0)).toBeCloseTo(1, 12);
    expect(codes(snapshot)).toContain("mig-overfull");
  });

  it("an instance whose profile nobody can read weighs nothing, and is not called unhealthy", () => {
    const odd = { ...instance("GPU-0", "1", "", 0.2), profile: null };
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 1)], telemetry: [page("n", [odd])] });
    expect(snapshot.devices[0]).toMatchObject({ weight: 0, unhealthy: false });
    expect(snapshot.unpartitioned[0]?.weight).toBe(1);
  });
});
