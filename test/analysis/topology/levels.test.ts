import { describe, expect, it } from "vitest";
import { findLevels } from "../../../exporter/analysis/topology/levels.ts";

const zone = "topology.kubernetes.io/zone";
const clique = "nvidia.com/gpu.clique";
const [block, subblock, host] = ["block", "subblock", "host"].map((one) => `cloud.google.com/gce-topology-${one}`);

const nodes = (...labels: readonly Record<string, string>[]) => labels.map((one) => ({ labels: one }));
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
