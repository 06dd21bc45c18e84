import { describe, expect, it } from "vitest";
import { claimant, gpuNode, gpuPod, page, pod, reading } from "../clusterBuilder.ts";
import { allocatedBy, codes, holdingsOf, snapshotOf, statesOf } from "../outcomes.ts";

describe("the pod label of a telemetry row", () => {
  const telemetry = [page("n", [reading("GPU-0", 0.5), reading("GPU-1", 0.7, "job")])];
  const nodes = [gpuNode("n", 2)];

  it("is believed when that pod holds GPUs on that node", () => {
    const snapshot = snapshotOf({ nodes, pods: [gpuPod("job", "n", 1)], telemetry });
    expect(holdingsOf(snapshot, "job")).toMatchObject([
      { on: "GPU-1", source: "dcgm", estimated: false, activity: 0.7 },
    ]);
  });

  const unbelieved: readonly (readonly [string, ReturnType<typeof pod>])[] = [
    ["asks for no GPU (the exporter's own pod)", pod("job", "n")],
    ["runs on another node", gpuPod("job", "m", 1)],
    ["has ended", gpuPod("job", "n", 1, { phase: "Succeeded" })],
    ["failed", gpuPod("job", "n", 1, { phase: "Failed" })],
    ["waits", gpuPod("job", null, 1)],
  ];
  it.each(unbelieved)("is not believed when that pod %s", (_case, it) => {
    const snapshot = snapshotOf({ nodes: [...nodes, gpuNode("m", 1)], pods: [it], telemetry });
    expect(snapshot.devices.filter((device) => device.node === "n").flatMap((device) => device.holders)).toEqual([]);
    expect(statesOf(snapshot).unattributed).toBe(2);
  });

  it("is not believed when its uid is of an earlier pod of that name", () => {
    const row = { ...reading("GPU-1", 0.7), claimants: [claimant("job", { podUid: "earlier" })] };
    const snapshot = snapshotOf({
      nodes,
      pods: [gpuPod("job", "n", 1)],
      telemetry: [page("n", [reading("GPU-0", 0), row])],
    });
    expect(holdingsOf(snapshot, "job").every((holding) => holding.source === "request" && holding.estimated)).toBe(
      true,
    );
  });

  it("beyond what the pod asks for is not believed, and reported", () => {
    const rows = [reading("GPU-0", 0.5, "job"), reading("GPU-1", 0.5, "job")];
    const snapshot = snapshotOf({ nodes, pods: [gpuPod("job", "n", 1)], telemetry: [page("n", rows)] });
    expect(allocatedBy(snapshot, "job")).toBe(1);
    expect(codes(snapshot)).toContain("label-exceeds-request");
  });

  it("speaks for the page's own node only", () => {
    const state = { nodes: [gpuNode("a", 1), gpuNode("b", 1)], pods: [gpuPod("job", "b", 1)] };
    const snapshot = snapshotOf({ ...state, telemetry: [page("a", [reading("GPU-9", 0.9, "job")])] });
    expect(holdingsOf(snapshot, "job")).toMatchObject([{ on: null, activity: null }]);
  });

  it("of two pods on a GPU that is not shared: nobody holds more than there is", () => {
    const pods = [gpuPod("a", "n", 1), gpuPod("b", "n", 1)];
    const rows = [reading("GPU-0", 0.5, "a", "b"), reading("GPU-1", 0)];
    const snapshot = snapshotOf({ nodes, pods, telemetry: [page("n", rows)] });
    expect([allocatedBy(snapshot, "a"), allocatedBy(snapshot, "b")]).toEqual([0.5, 0.5]);
    expect(codes(snapshot)).toContain("allocated-twice");
  });
});
