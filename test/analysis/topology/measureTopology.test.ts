import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findFreeCapacities } from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import { findLevels } from "../../../exporter/analysis/topology/levels.ts";
import { measureTopology } from "../../../exporter/analysis/topology/measureTopology.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { gangSizes } from "../../../exporter/model/topology.ts";
import { placementMoment } from "../placement/placementBuilder.ts";
import { type NaiveNode, naiveSlots, naiveUnusable } from "./naiveTopology.ts";
import { levelOf, measured, momentOf, onlyGpus, onlyPool, rackNode, slotsOf } from "./racks.ts";

const rack = (name: string, free: readonly number[], gpus = 8): readonly NaiveNode[] =>
  free.map((one) => rackNode(["b", name], gpus, one));

describe("slots of a level", () => {
  it("are none for 8 GPUs that are free as 6 and 2", () => {
    const topology = measured(momentOf(rack("r1", [6, 2])));
    expect(levelOf(topology, "rack")).toMatchObject({ freeGpus: 8, unusableGpus: 8, freeDomains: 0 });
    expect(slotsOf(levelOf(topology, "rack"))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("are one for 8 GPUs that are free on one node", () => {
    const topology = measured(momentOf(rack("r1", [8, 0])));
    expect(slotsOf(levelOf(topology, "rack"))).toEqual([1, 0, 0, 0, 0, 0]);
    // A gang of 16 would fit into the empty rack and does not fit now; one of 8 can use everything.
    expect(levelOf(topology, "rack").unusableGpus).toBe(4);
  });

  it("are in one rack, not across racks of a block", () => {
    const topology = measured(momentOf([...rack("r1", [8, 0]), ...rack("r2", [8, 0])]));
    expect(slotsOf(levelOf(topology, "rack"))).toEqual([2, 0, 0, 0, 0, 0]);
    expect(slotsOf(levelOf(topology, "block"))).toEqual([2, 1, 0, 0, 0, 0]);
    expect(levelOf(topology, "rack").domains).toEqual([
      { domain: "r1", nodes: 2, wholeFreeNodes: 1, freeGpus: 8, slots: [1, 0, 0, 0, 0, 0] },
      { domain: "r2", nodes: 2, wholeFreeNodes: 1, freeGpus: 8, slots: [1, 0, 0, 0, 0, 0] },
    ]);
  });

  it("are of pods that ask for the GPUs of a whole node, 18 of 4 in a rack", () => {
    const topology = measured(momentOf(rack("r1", new Array<number>(18).fill(4), 4)));
    expect(onlyPool(topology).gpusPerNode).toBe(4);
    expect(levelOf(topology, "rack").gangs.map(({ gpusPerPod, pods }) => [gpusPerPod, pods])).toEqual([
      [4, 2],
      [4, 4],
      [4, 8],
      [4, 16],
      [4, 32],
      [4, 64],
    ]);
    expect(slotsOf(levelOf(topology, "rack"))).toEqual([9, 4, 2, 1, 0, 0]);
    expect(levelOf(topology, "rack")).toMatchObject({ freeDomains: 1, unusableGpus: 0 });
  });

  it("are several on a node that has more GPUs than the gang asks for", () => {
    const topology = measured(momentOf(rack("r1", [16, 9], 16)));
    expect(slotsOf(levelOf(topology, "rack"))).toEqual([3, 1, 0, 0, 0, 0]);
  });

  it("count CPU and memory where a typical pod asks for them", () => {
    const snapshot = momentOf(rack("r1", [8, 8]));
    const [first, second] = snapshot.nodes;
    if (first === undefined || second === undefined) throw new Error("no nodes");
    const nodes = [
      { ...first, allocatableCpuMilli: 64_000 },
      { ...second, allocatableCpuMilli: 2000 },
    ];
    const topology = measured({ ...snapshot, nodes }, () => ({ cpuMilli: 32_000, memoryBytes: 0 }));
    expect(slotsOf(levelOf(topology, "rack"))).toEqual([1, 0, 0, 0, 0, 0]);
  });

  it("leave out nodes without the label, which are counted beside the domains", () => {
    const outside = [rackNode(["b", undefined], 8, 8), rackNode(["b", ""], 8, 5), rackNode([undefined, "r1"], 8, 8)];
    const topology = measured(momentOf([...rack("r1", [8]), ...outside]));
    expect(levelOf(topology, "rack")).toMatchObject({ nodesOutside: 3, freeGpusOutside: 21, freeGpus: 8 });
    expect(levelOf(topology, "rack").domains.map(({ domain }) => domain)).toEqual(["r1"]);
    expect(levelOf(topology, "block")).toMatchObject({ nodesOutside: 1, freeGpusOutside: 8, freeGpus: 21 });
  });

  it("leave out what is free on nodes that are not ready", () => {
    const topology = measured(momentOf([...rack("r1", [8]), rackNode(["b", "r1"], 8, 8, false)]));
    expect(levelOf(topology, "rack")).toMatchObject({ freeGpus: 8, freeDomains: 0 });
    expect(slotsOf(levelOf(topology, "rack"))).toEqual([1, 0, 0, 0, 0, 0]);
  });

  it("do not exist where no node has a label of a level", () => {
    expect(measured(momentOf([rackNode([undefined, undefined], 8, 8)]))).toEqual({ pools: [] });
  });
});

describe("a level that labels show by themselves", () => {
  const zone = "topology.kubernetes.io/zone";
  const pools = (...zones: readonly (string | null)[]) => {
    const snapshot = placementMoment(
      zones.map((one) => ({ allocated: [0], labels: one === null ? {} : { [zone]: one } })),
    );
    // Two nodes elsewhere, so that the level says something of the cluster.
    const labels = [...snapshot.nodes, { name: "x", labels: { [zone]: "x" } }, { name: "y", labels: { [zone]: "x" } }];
    const levels = findLevels(labels, [], noQueueObjects);
    return measureTopology(findFreeCapacities(snapshot), levels, onlyGpus).pools.length;
  };

  it("is left out for a pool that is in one domain, or whose nodes are each in a domain of their own", () => {
    expect(pools("a", "a", "a")).toBe(0);
    expect(pools("a", "b", "c")).toBe(0);
    expect(pools("a", "a", "b")).toBe(1);
    expect(pools("a", "a", null)).toBe(1);
  });
});

const gpusPerNode = fc.constantFrom(1, 2, 4, 8, 16);
const clusters = gpusPerNode.chain((gpus) =>
  fc
    .array(
      fc.record({
        path: fc.tuple(
          fc.constantFrom<string | undefined>("a", "b", "", undefined),
          fc.constantFrom<string | undefined>("1", "2", "3", "", undefined),
        ),
        gpus: fc.constant(gpus),
        free: fc.oneof(fc.constant(gpus), fc.integer({ min: 0, max: gpus })),
        isUsable: fc.boolean(),
      }),
      { minLength: 1, maxLength: 24 },
    )
    .map((nodes): { gpus: number; nodes: readonly NaiveNode[] } => ({ gpus, nodes })),
);

describe("generated clusters", () => {
  it("have the slots and the unusable GPUs that a naive count finds", () => {
    fc.assert(
      fc.property(clusters, ({ gpus, nodes }) => {
        for (const pool of measured(momentOf(nodes)).pools)
          for (const fit of pool.levels) {
            const level = fit.level === "block" ? 0 : 1;
            expect(slotsOf(fit)).toEqual(gangSizes.map((size) => naiveSlots(nodes, level, size, gpus)));
            const unusable = naiveUnusable(nodes, level, gangSizes, gpus);
            if (unusable === null) expect(fit.unusableGpus).toBeNull();
            else expect(fit.unusableGpus).toBeCloseTo(unusable, 9);
          }
      }),
    );
  });

  it("have at least as many slots in a coarser level, and lose no free GPU", () => {
    fc.assert(
      fc.property(clusters, ({ nodes }) => {
        const { pools } = measured(momentOf(nodes));
        const free = nodes.reduce((sum, node) => sum + (node.isUsable ? node.free : 0), 0);
        for (const { levels } of pools) {
          for (const fit of levels) {
            expect(fit.freeGpus + fit.freeGpusOutside).toBe(free);
            expect(fit.unusableGpus ?? 0).toBeGreaterThanOrEqual(0);
            expect(fit.unusableGpus ?? 0).toBeLessThanOrEqual(fit.freeGpus);
          }
          const [block, racks] = levels;
          if (block === undefined || racks === undefined) continue;
          for (const [i, gang] of block.gangs.entries()) {
            expect(gang.slots).toBeGreaterThanOrEqual(racks.gangs[i]?.slots ?? 0);
            expect(gang.possibleSlots).toBeGreaterThanOrEqual(gang.slots);
          }
        }
      }),
    );
  });

  it("have the same numbers in whatever order their nodes come", () => {
    const shuffled = clusters.chain(({ nodes }) =>
      fc.tuple(fc.constant(nodes), fc.shuffledSubarray([...nodes], { minLength: nodes.length })),
    );
    fc.assert(
      fc.property(shuffled, ([nodes, other]) => {
        expect(measured(momentOf(other))).toEqual(measured(momentOf(nodes)));
      }),
    );
  });
});
