import { describe, expect, it } from "vitest";
import { createLevelsCache, findLevels } from "../../../exporter/analysis/topology/levels.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";

const zone = "topology.kubernetes.io/zone";
const node = (name: string, value: string) => ({ name, labels: { [zone]: value } });
const nodes = [node("a", "x"), node("b", "x"), node("c", "y")];

describe("the levels of the moment before", () => {
  it("are the same object while nodes have the same labels, and objects are the same", () => {
    const cache = createLevelsCache();
    const first = findLevels(nodes, [], noQueueObjects, cache);
    expect(
      findLevels(
        nodes.map((one) => ({ ...one, labels: { ...one.labels } })),
        [],
        { ...noQueueObjects },
        cache,
      ),
    ).toBe(first);
  });

  it.each([
    ["a label", [node("a", "x"), node("b", "y"), node("c", "y")], noQueueObjects],
    ["a node", [...nodes, node("d", "y")], noQueueObjects],
    ["the place of a node", [node("c", "y"), node("b", "x"), node("a", "x")], noQueueObjects],
    [
      "a Topology",
      nodes,
      { ...noQueueObjects, kueueTopologies: [{ name: "t", levels: [{ nodeLabel: zone, alias: null }] }] },
    ],
  ])("are found anew where %s has changed", (_, now, objects) => {
    const cache = createLevelsCache();
    findLevels(nodes, [], noQueueObjects, cache);
    expect(findLevels(now, [], objects, cache)).toEqual(findLevels(now, [], objects));
  });
});
