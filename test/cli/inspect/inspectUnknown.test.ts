import { describe, expect, test } from "vitest";
import { fairlead } from "../adviseAgainst.ts";
import { createDumps, documentOfDump } from "../dumpFolder.ts";
import { dcgmPage } from "../fragmentedDump.ts";

const dumpOf = createDumps();

/** A node of a Karpenter NodePool with 8 H100, three weeks old, at a moment when it is ready. */
const node = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name,
    uid: `uid-${name}`,
    creationTimestamp: "2026-11-01T00:00:00Z",
    labels: {
      "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
      "node.kubernetes.io/instance-type": "p5.48xlarge",
      "karpenter.sh/nodepool": "gpu",
    },
  },
  spec: more,
  status: {
    capacity: { "nvidia.com/gpu": "8", cpu: "96", memory: "1Ti" },
    allocatable: { "nvidia.com/gpu": "8", cpu: "96", memory: "1Ti" },
    conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-11-21T12:00:00Z" }],
  },
});

const nodePool = (disruption: object): object => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name: "gpu" },
  spec: { disruption, template: { spec: {} } },
});

describe("nodes without pods", () => {
  const dump = dumpOf({ "nodes.json": [node("gpu-a"), node("gpu-b", { unschedulable: true })] });

  test("are neither free nor idle: nobody knows who holds them", async () => {
    const document = await documentOfDump(dump);
    expect(document.pools).toMatchObject([
      { physicalGpus: 16, states: { unobserved: 8, cordoned: 8 }, placement: null },
    ]);
    expect(document.nodes.map(({ idle }) => idle)).toEqual([null, null]);
    const { out } = await fairlead("inspect", dump);
    expect(out).toContain("not known: no pods were read, and no telemetry row names one");
    expect(out).not.toMatch(/nobody holds|idle node|IDLE NODES|WHAT FITS NOW|not allocated/);
  });

  test("are explained as unknown", async () => {
    const { out } = await fairlead("explain", "node", "gpu-a", "--dump", dump);
    expect(out).toMatch(/allocated +unknown +no pods were read/);
    expect(out).toContain("whether anybody holds it is not known");
    expect(out).not.toMatch(/nobody holds|idle/);
  });

  test("but with a page are held as its labels say, and free where they name nobody", async () => {
    const paged = dumpOf({ "nodes.json": [node("gpu-a")], "gpu-a.prom": dcgmPage("gpu-a", "eval-0", 3) });
    const document = await documentOfDump(paged);
    expect(document.pools).toMatchObject([{ physicalGpus: 8, allocated: 3, states: { free: 5 }, placement: null }]);
    const { out } = await fairlead("explain", "node", "gpu-a", "--dump", paged);
    expect(out).toMatch(/allocated +3\.0 GPUs +by the pod labels of its telemetry alone/);
  });

  test("are idle, and nobody holds them, where the dump says that there are no pods", async () => {
    const empty = dumpOf({ "nodes.json": [node("gpu-a")], "pods.json": [] });
    const document = await documentOfDump(empty);
    expect(document.pools).toMatchObject([{ states: { idle_node: 8 }, placement: { freeGpus: 8 } }]);
    expect(document.nodes).toMatchObject([{ idle: "unallocated" }]);
    expect((await fairlead("inspect", empty)).out).toContain("nobody holds or waits for a GPU");
    expect((await fairlead("explain", "node", "gpu-a", "--dump", empty)).out).toContain("unallocated");
  });
});

describe("of Karpenter's NodePools", () => {
  const idle = { "nodes.json": [node("gpu-a")], "pods.json": [] };
  const outOf = async (files: object) => (await fairlead("inspect", dumpOf({ ...idle, ...files }))).out;

  test("nothing is said that was not read", async () => {
    const out = await outOf({});
    expect(out).toContain("1 node runs for nobody");
    expect(out).not.toContain("never consolidates");
  });

  test.each([
    ["that never consolidates is said to", { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" }, true],
    ["that consolidates is not", { consolidationPolicy: "WhenEmpty", consolidateAfter: "10m" }, false],
    ["without a policy is not", {}, false],
  ])("one %s", async (_what, disruption, never) => {
    const out = await outOf({ "nodepools.json": [nodePool(disruption)] });
    expect(out.includes("Karpenter never consolidates NodePool gpu")).toBe(never);
  });
});
