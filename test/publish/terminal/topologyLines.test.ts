import { describe, expect, it } from "vitest";
import { placementLines } from "../../../exporter/publish/terminal/placementLines.ts";
import { measured, momentOf, rackNode } from "../../analysis/topology/racks.ts";
import { placementMoment } from "../placementMoment.ts";
import { topologyMoment } from "../topologyMoment.ts";

const textOf = (analysis: typeof topologyMoment): string =>
  placementLines(analysis)
    .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
    .join("\n");

describe("what fits now", () => {
  it("is said for each level, with the sizes that a domain could take", () => {
    const text = textOf(topologyMoment).replaceAll(/\s+/g, " ");
    expect(text).toContain(
      "in one rack: 3 gangs of 8 GPUs, 1 of 16; 1 of 2 wholly free; expected unusable 10.0; 1 node without the label",
    );
    expect(text).toContain("in one block: 3 gangs of 8 GPUs, 1 of 16, 0 of 32; 0 of 1 wholly free");
  });

  it("leaves out a level whose domains are single nodes, as host names are", () => {
    const nodes = [rackNode(["a", "1"], 8, 8), rackNode(["a", "2"], 8, 4)];
    const text = textOf({ ...placementMoment, topology: measured(momentOf(nodes)) });
    expect(text).toContain("in one block");
    expect(text).not.toContain("in one rack");
  });

  it("has no such line without topology", () => {
    expect(textOf(placementMoment)).not.toContain("in one");
  });
});
