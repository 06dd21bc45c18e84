import { describe, expect, it } from "vitest";
import { decodeKaiPodGroup } from "../../../../exporter/sources/kubernetes/queues/decodeKai.ts";
import { decodeHyperNode, decodeTopology } from "../../../../exporter/sources/kubernetes/queues/decodeTopology.ts";
import { decodeVolcanoPodGroup } from "../../../../exporter/sources/kubernetes/queues/decodeVolcano.ts";
import { decodeWorkload } from "../../../../exporter/sources/kubernetes/queues/decodeWorkload.ts";
import { recordOf } from "./capturedList.ts";
import { hyperNodes, topology } from "./topologyObjects.ts";

describe("a Topology", () => {
  it("has its levels in order, with the aliases that KAI allows", () => {
    expect(recordOf(decodeTopology(topology))).toEqual({
      name: "cluster",
      levels: [
        { nodeLabel: "example.com/block", alias: "block" },
        { nodeLabel: "example.com/rack", alias: null },
        { nodeLabel: "kubernetes.io/hostname", alias: null },
      ],
    });
  });
});

describe("a HyperNode", () => {
  it("has its members by name, pattern and labels; one without a selector or of another type is left out", () => {
    expect(hyperNodes.map((one) => recordOf(decodeHyperNode(one)))).toEqual([
      {
        name: "s0",
        tier: 1,
        tierName: "rack",
        members: [
          { type: "Node", selector: { kind: "exact", name: "n0" } },
          { type: "Node", selector: { kind: "pattern", pattern: "^n[12]$" } },
          {
            type: "Node",
            selector: {
              kind: "labels",
              labels: [
                { key: "rack", operator: "In", values: ["r1"] },
                { key: "gpu", operator: "Exists", values: [] },
              ],
            },
          },
        ],
      },
      {
        name: "s1",
        tier: 2,
        tierName: null,
        members: [{ type: "HyperNode", selector: { kind: "exact", name: "s0" } }],
      },
    ]);
  });
});

describe("the topology that a gang requires", () => {
  it("is the level of each pod set of a Workload, and none where a level is preferred", () => {
    const podSet = (topologyRequest?: object) => ({
      name: "w",
      count: 2,
      ...(topologyRequest === undefined ? {} : { topologyRequest }),
      template: { spec: { containers: [{ name: "c", resources: { requests: { "nvidia.com/gpu": "4" } } }] } },
    });
    const { podSets } = recordOf(
      decodeWorkload({
        metadata: { name: "w", namespace: "ns", uid: "u" },
        spec: {
          podSets: [podSet({ required: "example.com/rack" }), podSet({ preferred: "example.com/rack" }), podSet()],
        },
      }),
    );
    expect(podSets.map(({ requiredTopology }) => requiredTopology)).toEqual([
      { scheduler: "kueue", topology: null, level: "example.com/rack", tier: null },
      undefined,
      undefined,
    ]);
  });

  it("is the constraint of a PodGroup of KAI", () => {
    const group = (topologyConstraint: object) =>
      recordOf(decodeKaiPodGroup({ metadata: { name: "g", namespace: "ns", uid: "u" }, spec: { topologyConstraint } }));
    expect(group({ topology: "cluster", requiredTopologyLevel: "rack" }).requiredTopology).toEqual({
      scheduler: "kai",
      topology: "cluster",
      level: "rack",
      tier: null,
    });
    expect(group({ topology: "cluster", preferredTopologyLevel: "rack" })).not.toHaveProperty("requiredTopology");
  });

  it("is the highest tier of a PodGroup of Volcano in the mode hard, which is the default", () => {
    const group = (networkTopology: object) =>
      recordOf(
        decodeVolcanoPodGroup({ metadata: { name: "g", namespace: "ns", uid: "u" }, spec: { networkTopology } }),
      );
    const tier = { scheduler: "volcano", topology: null, level: null, tier: 1 };
    expect(group({ mode: "hard", highestTierAllowed: 1 }).requiredTopology).toEqual(tier);
    expect(group({ highestTierAllowed: 1 }).requiredTopology).toEqual(tier);
    expect(group({ highestTierName: "rack" }).requiredTopology).toEqual({ ...tier, level: "rack", tier: null });
    expect(group({ mode: "soft", highestTierAllowed: 1 })).not.toHaveProperty("requiredTopology");
    expect(group({ mode: "hard" })).not.toHaveProperty("requiredTopology");
  });
});
