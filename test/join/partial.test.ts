import { describe, expect, it } from "vitest";
import type { ObjectKind } from "../../exporter/model/cluster.ts";
import { claimant, gpuNode, gpuPod, instance, page, reading } from "./clusterBuilder.ts";
import { allocatedBy, codes, holdingsOf, nodeOf, podOf, snapshotOf, statesOf } from "./outcomes.ts";

const none: ReadonlySet<ObjectKind> = new Set();
const without = (...kinds: ObjectKind[]): ReadonlySet<ObjectKind> =>
  new Set(
    (["nodes", "pods", "namespaces", "resourceClaims", "resourceSlices", "owners"] as const).filter(
      (kind) => !kinds.includes(kind),
    ),
  );

describe("pages alone", () => {
  const telemetry = [page("n", [reading("GPU-0", 0.8, "job"), reading("GPU-1", 0)])];

  it("their devices count as the GPUs and their pod labels as the holdings; problems say so", () => {
    const snapshot = snapshotOf({ known: none, telemetry });
    expect(nodeOf(snapshot, "n")).toMatchObject({
      physicalGpus: 2,
      ready: null,
      schedulable: null,
      allocatableGpus: null,
    });
    expect(podOf(snapshot, "job")).toMatchObject({ uid: null, status: "allocated", team: "research", gpus: 1 });
    expect(statesOf(snapshot)).toEqual({ active: 0.8, underutilized: expect.closeTo(0.2, 12), free: 1 });
    expect(codes(snapshot)).toContain("objects-missing");
    expect(snapshot.coverage).toMatchObject({ objects: false, telemetry: true });
  });

  it("a page without a host is a node of its own", () => {
    const snapshot = snapshotOf({ known: none, telemetry: [page(null, [reading("GPU-0", 0)], { target: "a.prom" })] });
    expect(snapshot.nodes.map((view) => view.name)).toEqual(["a.prom"]);
  });

  it("several pods on a GPU are its sharers; a MIG instance is held as such", () => {
    const rows = [reading("GPU-0", 0.6, "a", "b", "c"), instance("GPU-1", "1", "3g.40gb", 0.5, "d")];
    const snapshot = snapshotOf({ known: none, telemetry: [page("n", rows)] });
    expect(["a", "b", "c"].map((name) => allocatedBy(snapshot, name))).toEqual([1 / 3, 1 / 3, 1 / 3]);
    expect(allocatedBy(snapshot, "d")).toBeCloseTo(1 / 2, 12);
    expect(codes(snapshot)).not.toContain("allocated-twice");
  });

  it("the reservation pods of KAI hold nothing", () => {
    const row = {
      ...reading("GPU-0", 0),
      claimants: [claimant("gpu-reservation-1", { namespace: "kai-resource-reservation" })],
    };
    expect(snapshotOf({ known: none, telemetry: [page("n", [row])] }).pods).toEqual([]);
  });
});

describe("objects alone", () => {
  it("everything held is unobserved, and it is said so", () => {
    const snapshot = snapshotOf({ nodes: [gpuNode("n", 4)], pods: [gpuPod("job", "n", 3)] });
    expect(statesOf(snapshot)).toEqual({ unobserved: expect.closeTo(3, 9), free: expect.closeTo(1, 9) });
    expect(codes(snapshot)).toContain("no-telemetry");
    expect(snapshot.signal).toBeNull();
  });
});

describe("a part of the objects", () => {
  const telemetry = [page("n", [reading("GPU-0", 0.8, "job"), reading("GPU-1", 0)])];

  it("pods unknown, nodes known: the API counts the GPUs, labels count as the holdings", () => {
    const snapshot = snapshotOf({ known: without("pods"), nodes: [gpuNode("n", 4)], telemetry });
    expect(nodeOf(snapshot, "n")).toMatchObject({ physicalGpus: 4, allocatedByDevices: 1, allocatedByPods: 1 });
    expect(holdingsOf(snapshot, "job")).toMatchObject([{ on: "GPU-0", source: "dcgm" }]);
  });

  it("nodes unknown, pods known: pages count as the GPUs, and their labels must be of pods that hold GPUs", () => {
    const rows = [page("n", [reading("GPU-0", 0.8, "job"), reading("GPU-1", 0.9, "ghost")])];
    const snapshot = snapshotOf({ known: without("nodes"), pods: [gpuPod("job", "n", 1)], telemetry: rows });
    expect(nodeOf(snapshot, "n").physicalGpus).toBe(2);
    expect(snapshot.pods.map((view) => view.name)).toEqual(["job"]);
    expect(statesOf(snapshot)).toEqual({ active: 0.8, underutilized: expect.closeTo(0.2, 12), unattributed: 1 });
  });

  it("namespaces unknown: the namespace itself is the team", () => {
    const snapshot = snapshotOf({ known: without("namespaces"), pods: [gpuPod("job", null, 1)] });
    expect(podOf(snapshot, "job").team).toBe("research");
    expect(codes(snapshot)).toContain("objects-missing");
  });
});

describe("pages of one node", () => {
  const nodes = [gpuNode("n", 1)];
  const pods = [gpuPod("job", "n", 1)];

  it("are reduced, never added: the newer wins, the older fills what it lacks", () => {
    const newer = page("n", [{ ...reading("GPU-0", 0.2), gpuUtil: null }], { target: "a", receivedAt: 2000 });
    const older = page("n", [{ ...reading("GPU-0", 0.9, "job"), dramActive: 0.3 }], { target: "b", receivedAt: 1000 });
    for (const telemetry of [
      [newer, older],
      [older, newer],
    ]) {
      const snapshot = snapshotOf({ nodes, pods, telemetry });
      expect(snapshot.devices).toHaveLength(1);
      expect(snapshot.devices[0]).toMatchObject({ activity: 0.2, reading: { dramActive: 0.3, gpuUtil: 0.9 } });
      expect(holdingsOf(snapshot, "job")).toMatchObject([{ source: "dcgm", share: 1 }]);
    }
  });

  it("of a node that the API does not have are left out and reported", () => {
    const snapshot = snapshotOf({
      nodes,
      telemetry: [page("ghost", [reading("GPU-9", 1)]), page(null, [reading("GPU-8", 1)])],
    });
    expect(snapshot.nodes.map((view) => view.name)).toEqual(["n"]);
    expect(snapshot.problems.filter((problem) => problem.code === "page-of-unknown-node")).toHaveLength(2);
  });

  it("a UUID on two nodes is believed on each for its own, and reported unless it is of a vGPU guest", () => {
    const two = (uuid: string) =>
      snapshotOf({
        nodes: [...nodes, gpuNode("m", 1)],
        telemetry: [page("n", [reading(uuid, 0)]), page("m", [reading(uuid, 1)])],
      });
    expect(codes(two("GPU-1"))).toContain("uuid-on-two-nodes");
    expect(
      two("GPU-1")
        .devices.map((device) => device.activity)
        .sort(),
    ).toEqual([0, 1]);
    expect(codes(two("GPU-11111111-0000-0000-0000-000000000000"))).not.toContain("uuid-on-two-nodes");
  });

  it("a GPU whose model is a word of the language breaks nothing", () => {
    for (const modelName of ["constructor", "__proto__", "toString", ""]) {
      const telemetry = [page("n", [{ ...instance("GPU-0", "1", "1g.10gb", 0), modelName }])];
      const snapshot = snapshotOf({
        nodes: [gpuNode("n", 1, { labels: { "karpenter.sh/capacity-type": modelName } })],
        telemetry,
      });
      expect(snapshot.devices[0]?.model).toEqual(expect.any(String));
      expect(nodeOf(snapshot, "n").capacityType).toBeNull();
    }
  });
});
