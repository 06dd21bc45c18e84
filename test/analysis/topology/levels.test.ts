import { describe, expect, it } from "vitest";
import { matchesPattern } from "../../../exporter/analysis/topology/hyperNodes.ts";
import { findLevels as levelsOf } from "../../../exporter/analysis/topology/levels.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { HyperNode, TopologyObject } from "../../../exporter/model/topology.ts";

const zone = "topology.kubernetes.io/zone";
const clique = "nvidia.com/gpu.clique";
const [block, subblock, host] = ["block", "subblock", "host"].map((one) => `cloud.google.com/gce-topology-${one}`);

const nodes = (...labels: readonly Record<string, string>[]) =>
  labels.map((one, index) => ({ name: `n${index}`, labels: one }));
const findLevels = (
  all: Parameters<typeof levelsOf>[0],
  configured: Parameters<typeof levelsOf>[1] = [],
  objects: Partial<QueueObjects> = {},
) => levelsOf(all, configured, { ...noQueueObjects, ...objects });
const shown = (levels: ReturnType<typeof findLevels>) =>
  levels.map(({ name, domains, domainOfNode }) => [name, domains, [...domainOfNode]]);

describe("levels that labels show", () => {
  it("are NVLink domains, and a node without the label is in none", () => {
    const levels = findLevels(
      nodes({ [clique]: "u.1" }, { [clique]: "u.0" }, {}, { [clique]: "" }, { [clique]: "u.0" }),
      [],
    );
    expect(shown(levels)).toEqual([[clique, ["u.0", "u.1"], [1, 0, -1, -1, 0]]]);
    expect(levels[0]).toMatchObject({ source: "nvlink", labels: [clique], object: null });
  });

  it("are nested: a subblock of the same name in another block is another domain", () => {
    const levels = findLevels(
      nodes(
        { [block ?? ""]: "b1", [subblock ?? ""]: "s1", [host ?? ""]: "h1" },
        { [block ?? ""]: "b1", [subblock ?? ""]: "s1", [host ?? ""]: "h2" },
        { [block ?? ""]: "b2", [subblock ?? ""]: "s1", [host ?? ""]: "h3" },
        { [block ?? ""]: "b2", [subblock ?? ""]: "s2", [host ?? ""]: "h4" },
      ),
      [],
    );
    // Each host has one node, which says no more than the nodes do.
    expect(shown(levels)).toEqual([
      [block, ["b1", "b2"], [0, 0, 1, 1]],
      [subblock, ["b1/s1", "b2/s1", "s2"], [0, 0, 1, 2]],
    ]);
  });

  it("are left out where all nodes are in one domain, or each is alone", () => {
    expect(findLevels(nodes({ [zone]: "a" }, { [zone]: "a" }), [])).toEqual([]);
    expect(findLevels(nodes({ [zone]: "a" }, { [zone]: "b" }), [])).toEqual([]);
    expect(findLevels(nodes({}, {}), [])).toEqual([]);
    expect(shown(findLevels(nodes({ [zone]: "a" }, { [zone]: "a" }, { [zone]: "b" }), []))).toEqual([
      [zone, ["a", "b"], [0, 0, 1]],
    ]);
  });

  it("are those of AWS, an UltraServer among them", () => {
    const aws = { "topology.k8s.aws/network-node-layer-1": "nn-1", "topology.k8s.aws/ultraserver-id": "us-1" };
    const levels = findLevels(nodes(aws, aws, {}), []);
    expect(levels.map(({ name, source }) => [name, source])).toEqual([
      ["topology.k8s.aws/network-node-layer-1", "cloud"],
      ["topology.k8s.aws/ultraserver-id", "cloud"],
    ]);
  });
});

describe("configured levels", () => {
  const configured = [
    { name: "row", nodeLabel: "example.com/row" },
    { name: "rack", nodeLabel: "example.com/rack" },
  ];

  it("are taken instead of those that labels show, even with one domain", () => {
    const levels = findLevels(
      nodes({ "example.com/row": "1", "example.com/rack": "a", [zone]: "z" }, { [zone]: "y" }),
      configured,
    );
    expect(shown(levels)).toEqual([
      ["row", ["1"], [0, -1]],
      ["rack", ["a"], [0, -1]],
    ]);
    expect(levels[1]?.labels).toEqual(["example.com/row", "example.com/rack"]);
  });

  it("are absent where no node has their labels", () => {
    expect(findLevels(nodes({}, { [zone]: "y" }), configured)).toEqual([]);
  });
});

const topologyOf = (name: string, ...labels: readonly string[]): TopologyObject => ({
  name,
  levels: labels.map((nodeLabel) => ({ nodeLabel, alias: null })),
});

describe("levels that a queue system declares", () => {
  const [a, b] = ["example.com/block", "example.com/rack"];

  it("are those of a Topology of Kueue, in which a node that lacks any of its labels is in no domain", () => {
    const all = nodes({ [a]: "1", [b]: "x" }, { [a]: "1" }, { [a]: "1", [b]: "y" }, { [b]: "y" });
    const levels = findLevels(all, [], { kueueTopologies: [topologyOf("t", a, b)] });
    expect(shown(levels)).toEqual([
      [a, ["1"], [0, -1, 0, -1]],
      [b, ["x", "y"], [0, -1, 1, -1]],
    ]);
    expect(levels[0]).toMatchObject({ source: "kueue", object: "t" });
  });

  it("are one level where Kueue and KAI name the same labels, and have names of their own where they do not", () => {
    const all = nodes({ [a]: "1", [b]: "x" });
    const levels = findLevels(all, [], {
      kueueTopologies: [topologyOf("t", a, b)],
      kaiTopologies: [topologyOf("other", a, b), topologyOf("flat", b)],
    });
    expect(levels.map(({ name, source }) => [name, source])).toEqual([
      [a, "kueue"],
      [b, "kueue"],
      [`${b} (flat)`, "kai"],
    ]);
  });

  it("are taken instead of the same label's that shows by itself", () => {
    const all = nodes({ [zone]: "z1" }, { [zone]: "z1" }, { [zone]: "z2" });
    expect(findLevels(all, [], { kueueTopologies: [topologyOf("t", zone)] }).map(({ source }) => source)).toEqual([
      "kueue",
    ]);
  });

  it("are at most sixteen", () => {
    const labels = Array.from({ length: 20 }, (_, i) => `example.com/level-${i}`);
    const all = nodes(Object.fromEntries(labels.map((label) => [label, "x"])));
    const kueueTopologies = labels.map((label) => topologyOf(label, label));
    expect(findLevels(all, [], { kueueTopologies })).toHaveLength(16);
  });
});

describe("tiers of HyperNodes", () => {
  const leaf = (name: string, ...members: HyperNode["members"]): HyperNode => ({
    name,
    tier: 1,
    tierName: null,
    members,
  });
  const node = (selector: HyperNode["members"][number]["selector"]) => ({ type: "Node" as const, selector });

  it("hold nodes by name, by pattern and by label, and the nodes of HyperNodes below them", () => {
    const all = nodes({}, {}, { rack: "r2" }, {}, {});
    const volcanoHyperNodes = [
      leaf("s0", node({ kind: "exact", name: "n0" }), node({ kind: "pattern", pattern: "^n1$" })),
      leaf("s1", node({ kind: "labels", labels: [{ key: "rack", operator: "In", values: ["r2"] }] })),
      leaf("s2", node({ kind: "pattern", pattern: "n[3]" })),
      {
        name: "top",
        tier: 2,
        tierName: "pod",
        members: [
          { type: "HyperNode" as const, selector: { kind: "exact" as const, name: "s0" } },
          { type: "HyperNode" as const, selector: { kind: "pattern" as const, pattern: "^s[12]$" } },
        ],
      },
    ];
    expect(shown(findLevels(all, [], { volcanoHyperNodes }))).toEqual([
      ["pod", ["top"], [0, 0, 0, 0, -1]],
      ["tier 1", ["s0", "s1", "s2"], [0, 0, 1, 2, -1]],
    ]);
  });

  it("end where HyperNodes name each other in a circle", () => {
    const of = (name: string, other: string): HyperNode => ({
      ...leaf(
        name,
        { type: "HyperNode", selector: { kind: "exact", name: other } },
        node({ kind: "exact", name: "n0" }),
      ),
    });
    expect(shown(findLevels(nodes({}), [], { volcanoHyperNodes: [of("a", "b"), of("b", "a")] }))).toEqual([
      ["tier 1", ["a", "b"], [0]],
    ]);
  });

  it.each(["(a+)+$", "(a|aa)*b", "a*a*a*b", "(?=n)", "[", "\\1", "a{1000}", "(n0){2,}"])(
    "match nothing by %s, which could take for ever or is no pattern",
    (pattern) => {
      expect(matchesPattern(pattern, "n0")).toBe(false);
    },
  );

  it.each(["", "n", "^n0$", "n\\d", "^(n0|n1)$", "node-.*|n[0-9]+", "n0{1,2}"])("match by %s", (pattern) => {
    expect(matchesPattern(pattern, "n0")).toBe(true);
  });
});
