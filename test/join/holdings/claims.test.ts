import { describe, expect, it } from "vitest";
import {
  allocated,
  claim,
  claimant,
  claimingPod,
  gpuNode,
  gpuPod,
  instance,
  node,
  page,
  reading,
  slice,
  sliceGpu,
  sliceMig,
} from "../clusterBuilder.ts";
import { allocatedBy, codes, holdingsOf, nodeOf, podOf, snapshotOf, statesOf } from "../outcomes.ts";

const draNode = {
  nodes: [node("n")],
  resourceSlices: [slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceGpu("gpu-1", "GPU-1")])],
};

describe("a DRA claim", () => {
  it("puts its pod on the device that it was given", () => {
    const resourceClaims = [claim("c", [allocated("n", "gpu-1")], ["job"])];
    const snapshot = snapshotOf({ ...draNode, pods: [claimingPod("job", "n", "c")], resourceClaims });
    expect(holdingsOf(snapshot, "job")).toMatchObject([{ on: "GPU-1", share: 1, source: "dra", estimated: false }]);
    expect(nodeOf(snapshot, "n")).toMatchObject({ allocatedByDevices: 1, allocatedByPods: 1 });
  });

  it("that several pods share is divided equally, and once one has ended among the rest", () => {
    const resourceClaims = [claim("c", [allocated("n", "gpu-0"), allocated("n", "gpu-1")], ["a", "b"])];
    const a = claimingPod("a", "n", "c");
    const both = snapshotOf({ ...draNode, pods: [a, claimingPod("b", "n", "c")], resourceClaims });
    expect(holdingsOf(both, "a").map(({ on, share }) => [on, share])).toEqual([
      ["GPU-0", 0.5],
      ["GPU-1", 0.5],
    ]);
    expect(holdingsOf(both, "b").map(({ on, share }) => [on, share])).toEqual([
      ["GPU-0", 0.5],
      ["GPU-1", 0.5],
    ]);
    const ended = { ...claimingPod("b", "n", "c"), phase: "Succeeded" as const };
    expect(allocatedBy(snapshotOf({ ...draNode, pods: [a, ended], resourceClaims }), "a")).toBe(2);
  });

  const shared = (shareId: string, consumedCapacity: Record<string, number> = {}) =>
    allocated("n", "gpu-0", { shareId, consumedCapacity });
  const sharing = (capacity: Record<string, number>, consumed: Record<string, number>) => {
    const device = sliceGpu("gpu-0", "GPU-0");
    return snapshotOf({
      nodes: [node("n")],
      resourceSlices: [slice("n", [{ ...device, capacity: { ...device.capacity, ...capacity } }])],
      pods: [claimingPod("a", "n", "c"), claimingPod("b", "n", "d")],
      resourceClaims: [claim("c", [shared("1", consumed)], ["a"]), claim("d", [shared("2", consumed)], ["b"])],
      telemetry: [page("n", [reading("GPU-0", 0.7)])],
    });
  };

  it("for a share that consumes nothing holds an equal part of the device", () => {
    const snapshot = sharing({}, {});
    expect([allocatedBy(snapshot, "a"), allocatedBy(snapshot, "b")]).toEqual([0.5, 0.5]);
    expect(statesOf(snapshot).free ?? 0).toBe(0);
  });

  it.each([
    ["one of four replicas", { replicas: 4 }, { "gpu.nvidia.com/replicas": 1 }, 1 / 4],
    ["10 of 80 GiB", {}, { memory: 10 * 2 ** 30 }, 1 / 8],
    ["30 % of the cores and 10 of 80 GiB", { cores: 100 }, { cores: 30, memory: 10 * 2 ** 30 }, 0.3],
  ] as const)("for %s holds the largest part of what the device has", (_what, capacity, consumed, part) => {
    expect(allocatedBy(sharing(capacity, consumed), "a")).toBeCloseTo(part, 12);
  });

  it("with adminAccess holds nothing, and its pod is not listed", () => {
    const resourceClaims = [claim("monitor", [allocated("n", "gpu-0", { adminAccess: true })], ["exporter"])];
    const snapshot = snapshotOf({ ...draNode, pods: [claimingPod("exporter", "n", "monitor")], resourceClaims });
    expect(snapshot.pods).toEqual([]);
    expect(statesOf(snapshot)).toEqual({ idle_node: 2 });
  });

  it("for a network card holds no GPU and leaves the pod's request of GPUs alone", () => {
    const nic = allocated("n", "eth0", { driver: "dra.net" });
    const job = gpuPod("job", "n", 2, { gpu: { claims: [{ claimName: "nic" }] } });
    const resourceClaims = [claim("nic", [nic], ["job", "proxy"])];
    const snapshot = snapshotOf({
      nodes: [gpuNode("n", 2)],
      pods: [job, claimingPod("proxy", "n", "nic")],
      resourceClaims,
    });
    expect(allocatedBy(snapshot, "job")).toBe(2);
    expect(snapshot.pods.map((view) => view.name)).toEqual(["job"]);
  });

  it("of an extended resource is counted once", () => {
    const job = gpuPod("job", "n", 1, { gpu: { extendedResourceClaim: "ext" } });
    const resourceClaims = [claim("ext", [allocated("n", "gpu-0")], ["job"])];
    const snapshot = snapshotOf({ ...draNode, pods: [job], resourceClaims });
    expect(holdingsOf(snapshot, "job")).toMatchObject([{ on: "GPU-0", share: 1, source: "dra" }]);
    expect(podOf(snapshot, "job").gpus).toBe(1);
  });

  it("that may be a slice: the request of the pod is not used while the claim is not allocated", () => {
    const job = gpuPod("job", "n", 1, { gpu: { extendedResourceClaim: "ext" } });
    const snapshot = snapshotOf({ ...draNode, pods: [job] });
    expect(allocatedBy(snapshot, "job")).toBe(0);
    expect(podOf(snapshot, "job").gpus).toBeNull();
  });

  it("beside a GPU of the device plugin: both are allocated, the labelled row of the claim's GPU counts once", () => {
    const nodes = [node("n", { capacity: { "nvidia.com/gpu": 1 } })];
    const resourceSlices = [slice("n", [sliceGpu("gpu-0", "GPU-0")])];
    const job = gpuPod("job", "n", 1, { gpu: { claims: [{ claimName: "c" }] } });
    const resourceClaims = [claim("c", [allocated("n", "gpu-0")], ["job"])];
    const telemetry = [page("n", [reading("GPU-0", 0.5, "job"), reading("GPU-1", 0.5, "job")])];
    const snapshot = snapshotOf({ nodes, resourceSlices, pods: [job], resourceClaims, telemetry });
    expect(holdingsOf(snapshot, "job").map(({ on, share, source }) => [on, share, source])).toEqual([
      ["GPU-0", 1, "dra"],
      ["GPU-1", 1, "dcgm"],
    ]);
  });

  it("of a MIG device finds its instance by UUID, else one of its profile that nobody has", () => {
    const migs = [1, 2].map((i) => sliceMig(`gpu-0-mig-1g10gb-19-${i}`, "GPU-0", "1g.10gb", `MIG-${i}`));
    const resourceSlices = [slice("n", [sliceGpu("gpu-0", "GPU-0"), ...migs])];
    const rows = [
      instance("GPU-0", "7", "1g.10gb", 0.2),
      { ...instance("GPU-0", "8", "1g.10gb", 0.4), migUuid: "MIG-1" },
    ];
    const resourceClaims = [
      claim("one", [allocated("n", "gpu-0-mig-1g10gb-19-1")], ["a"]),
      claim("two", [allocated("n", "gpu-0-mig-1g10gb-19-2")], ["b"]),
    ];
    const pods = [claimingPod("a", "n", "one"), claimingPod("b", "n", "two")];
    const snapshot = snapshotOf({
      nodes: [node("n")],
      resourceSlices,
      pods,
      resourceClaims,
      telemetry: [page("n", rows)],
    });
    expect(holdingsOf(snapshot, "a")).toMatchObject([{ on: "GPU-0/8", activity: 0.4 }]);
    expect(holdingsOf(snapshot, "b")).toMatchObject([{ on: "GPU-0/7", activity: 0.2 }]);
  });

  it("of a MIG device that telemetry does not show still holds its slices, unobserved", () => {
    const resourceSlices = [
      slice("n", [sliceGpu("gpu-0", "GPU-0"), sliceMig("gpu-0-mig-2g20gb-14-0", "GPU-0", "2g.20gb")]),
    ];
    const resourceClaims = [claim("c", [allocated("n", "gpu-0-mig-2g20gb-14-0")], ["a", "b"])];
    const pods = [claimingPod("a", "n", "c"), claimingPod("b", "n", "c")];
    const snapshot = snapshotOf({ nodes: [node("n")], resourceSlices, pods, resourceClaims });
    expect(allocatedBy(snapshot, "a")).toBeCloseTo(1 / 7, 12);
    expect(statesOf(snapshot).unobserved).toBeCloseTo(2 / 7, 12);
  });

  it("of a device that no slice describes is estimated on its node, with a problem", () => {
    const resourceClaims = [claim("c", [allocated("n", "gpu-7")], ["job"])];
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 2)], pods: [claimingPod("job", "n", "c")], resourceClaims });
    expect(allocatedBy(snapshot, "job")).toBeCloseTo(1, 9);
    expect(holdingsOf(snapshot, "job").every((holding) => holding.estimated && holding.source === "dra")).toBe(true);
    expect(codes(snapshot)).toContain("claim-device-unknown");
  });

  it("without slices: several devices of a claim are the several rows that name it", () => {
    const named = (uuid: string) => ({
      ...reading(uuid, 0.5),
      claimants: [claimant("job", { claim: { namespace: "research", name: "c" } })],
    });
    const resourceClaims = [claim("c", [allocated("n", "gpu-0"), allocated("n", "gpu-1")], ["job"])];
    const telemetry = [page("n", [named("GPU-0"), reading("GPU-1", 0), named("GPU-2")])];
    const snapshot = snapshotOf({
      nodes: [gpuNode("n", 3)],
      pods: [claimingPod("job", "n", "c")],
      resourceClaims,
      telemetry,
    });
    expect(holdingsOf(snapshot, "job").map(({ on, share }) => [on, share])).toEqual([
      ["GPU-0", 1],
      ["GPU-2", 1],
    ]);
  });
});
