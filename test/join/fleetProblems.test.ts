import { describe, expect, it } from "vitest";
import { gpuNode, gpuPod, node } from "./clusterBuilder.ts";
import { nodeOf, snapshotOf, statesOf } from "./outcomes.ts";

const said = (nodes: Parameters<typeof snapshotOf>[0]["nodes"], code: string) =>
  snapshotOf({ nodes: nodes ?? [] })
    .problems.filter((problem) => problem.code === code)
    .map(({ subject, message }) => [subject, message] as const);

describe("a name below nvidia.com that nothing knows", () => {
  const odd = "nvidia.com/a100-training";

  it("is said once for all nodes without GPUs that offer it, and counts nothing", () => {
    const nodes = ["c", "a", "b"].map((name) => node(name, { capacity: { [odd]: 8 } }));
    expect(said(nodes, "gpu-resource-unknown")).toEqual([
      [odd, expect.stringContaining("3 nodes without GPUs (a first)")],
    ]);
    expect(statesOf(snapshotOf({ nodes }))).toEqual({});
  });

  it.each([
    ["on a node that has GPUs", gpuNode("n", 8, { capacity: { "nvidia.com/gpu": 8, [odd]: 2 } })],
    ["where none is left", node("n", { capacity: { [odd]: 0 } })],
    ["of a network card", node("n", { capacity: { "nvidia.com/resibp24s0": 8 } })],
  ])("is not said %s", (_what, object) => {
    expect(said([object], "gpu-resource-unknown")).toEqual([]);
  });
});

describe("accelerators of other vendors", () => {
  const amd = ["amd-1", "amd-2"].map((name) => node(name, { capacity: { "amd.com/gpu": 8 } }));
  const nodes = [...amd, node("tpu", { capacity: { "google.com/tpu": 4 } }), gpuNode("n", 8)];

  it("are counted, in pools of their own, and said once for each vendor", () => {
    const snapshot = snapshotOf({ nodes });
    expect(nodes.map(({ name }) => nodeOf(snapshot, name).physicalGpus)).toEqual([8, 8, 4, 8]);
    const pools = nodes.map(({ name }) => nodeOf(snapshot, name).pools.join());
    expect(new Set(pools).size).toBe(3);
    expect(said(nodes, "vendor-without-telemetry")).toEqual([
      ["AMD", expect.stringContaining("16 accelerators of AMD")],
      ["Google", expect.stringContaining("4 accelerators of Google")],
    ]);
    expect(said([gpuNode("n", 8)], "vendor-without-telemetry")).toEqual([]);
  });

  it("are allocated to request", () => {
    const snapshot = snapshotOf({ nodes, pods: [gpuPod("train", "amd-1", 8, {}, "amd.com/gpu")] });
    expect(statesOf(snapshot, "train")).toEqual({ unobserved: 8 });
  });
});
