import { describe, expect, it } from "vitest";
import { noTopology } from "../../../exporter/analysis/topology/topology.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { topologyRecords } from "../../../exporter/publish/document/topologyRecords.ts";
import { measured, momentOf, rackNode } from "../../analysis/topology/racks.ts";
import { topologyMoment } from "../topologyMoment.ts";

describe("the levels of a pool", () => {
  it("are in the document with their domains, and absent where there is no topology", () => {
    const poolOf = (topology: typeof topologyMoment.topology) =>
      documentSchema.parse(buildDocument({ ...topologyMoment, topology })).pools.find(({ pool }) => pool === "H100");
    expect(poolOf(noTopology)).not.toHaveProperty("topology");
    const racks = poolOf(topologyMoment.topology)?.topology?.find(({ level }) => level === "rack");
    expect(racks).toMatchObject({
      source: "configured",
      domainCount: 2,
      freeDomains: 1,
      nodesOutside: 1,
      freeGpusOutside: 5,
      freeGpus: 30,
      unusableGpus: 10,
      domains: [
        { domain: "r1", nodes: 2, wholeFreeNodes: 2, freeGpus: 16, slots: [2, 1, 0, 0, 0, 0] },
        { domain: "r2", nodes: 2, wholeFreeNodes: 1, freeGpus: 14, slots: [1, 0, 0, 0, 0, 0] },
      ],
    });
    expect(racks?.gangs[1]).toEqual({ gpus: 16, gpusPerPod: 8, pods: 2, slots: 1, possibleSlots: 2 });
  });

  it("list the 1000 domains with the most free GPUs, in the order of their names", () => {
    const nodes = Array.from({ length: 1005 }, (_, i) => rackNode(["b", `r${10_000 + i}`], 2, i < 10 ? i % 2 : 2));
    const topology = measured(momentOf(nodes));
    const racks = topologyRecords({ ...topologyMoment, topology }).get("H100")?.topology[1];
    expect(racks?.domainCount).toBe(1005);
    const names = racks?.domains.map(({ domain }) => domain) ?? [];
    expect(names).toHaveLength(1000);
    expect(names).toEqual([...names].sort());
    expect(names).not.toContain("r10000");
    expect(names).toContain("r10011");
  });
});
