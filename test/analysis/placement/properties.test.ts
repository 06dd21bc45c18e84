import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countShapes, createShapeCache } from "../../../exporter/analysis/placement/countShapes.ts";
import { createPlacementCache, measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import type { PoolPlacement } from "../../../exporter/analysis/placement/poolPlacement.ts";
import type { PodView, Snapshot } from "../../../exporter/join/snapshot.ts";
import { placedSizes } from "../../../exporter/model/placedSizes.ts";
import { anyMoment, anyNode, anyPods, createMoments, turned } from "./generatedPlacement.ts";
import { asks, byPods, type PlacedNode, placementMoment, podsLike, targetShape } from "./placementBuilder.ts";

const runs = { seed: 20, numRuns: 400 };

const sum = (amounts: Readonly<Partial<Record<string, number>>>): number =>
  Object.values(amounts).reduce<number>((total, amount) => total + (amount ?? 0), 0);

const everyPool = (test: (pool: PoolPlacement) => void) =>
  fc.assert(
    fc.property(anyMoment, (snapshot) => {
      for (const pool of measurePlacement(snapshot, byPods).pools) test(pool);
    }),
    runs,
  );

describe("placement", () => {
  it("accounts for every GPU that nobody holds", () => {
    fc.assert(
      fc.property(anyMoment, (snapshot) => {
        for (const pool of measurePlacement(snapshot, byPods).pools) {
          const own = snapshot.devices.filter((device) => device.pool === pool.pool);
          const unallocated = own.reduce((total, { weight, holders }) => total + weight - (holders[0]?.share ?? 0), 0);
          const reported = pool.freeGpus + pool.sharedFreeGpus + pool.partitionedFreeGpus + pool.unavailableFreeGpus;
          expect(reported).toBeCloseTo(unallocated, 6);
        }
      }),
      runs,
    );
  });

  it("places no more pods than GPUs are free, and the largest is the largest of all sizes", () => {
    everyPool(({ placeablePods, freeGpus, shapeFragmentation, largestPlaceablePod }) => {
      for (const size of placedSizes) {
        expect(size * placeablePods[size]).toBeLessThanOrEqual(freeGpus);
        expect(shapeFragmentation[size]).toBeGreaterThanOrEqual(0);
        expect(shapeFragmentation[size]).toBeLessThanOrEqual(1);
        if (placeablePods[size] > 0) expect(largestPlaceablePod).toBeGreaterThanOrEqual(size);
        if (largestPlaceablePod === size) expect(placeablePods[size]).toBeGreaterThan(0);
      }
    });
  });

  it("places at least two pods of half a size for each pod, where they ask for GPUs alone", () => {
    fc.assert(
      fc.property(fc.array(anyNode, { minLength: 1, maxLength: 8 }), (nodes) => {
        for (const { placeablePods } of measurePlacement(placementMoment(nodes), byPods).pools)
          for (const size of [1, 2, 4] as const)
            expect(placeablePods[size]).toBeGreaterThanOrEqual(2 * placeablePods[size === 4 ? 8 : size === 2 ? 4 : 2]);
      }),
      runs,
    );
  });

  it("strands no more than is fully free, and wastes no more than is free", () => {
    everyPool(({ strandedGpus, freeGpus, sharedFreeGpus, partitionedFreeGpus, expected }) => {
      expect(sum(strandedGpus)).toBeLessThanOrEqual(freeGpus);
      const free = freeGpus + sharedFreeGpus + partitionedFreeGpus;
      expect(expected.gpus).toBeLessThanOrEqual(free + 1e-9);
      expect(sum(expected.byCause)).toBeCloseTo(expected.gpus, 9);
      for (const amount of Object.values(expected.byCause)) expect(amount).toBeGreaterThan(0);
      if (free === 0) expect(expected.ratio).toBeNull();
      else expect(expected.ratio).toBeCloseTo(expected.gpus / free, 9);
    });
  });

  it("says that at least as many nodes could be whole as are", () => {
    everyPool(({ wholeFreeNodes, possibleWholeFreeNodes }) => {
      expect(possibleWholeFreeNodes).toBeGreaterThanOrEqual(wholeFreeNodes);
    });
  });

  it("can free as many of equal nodes as their free GPUs are nodes", () => {
    const physicalGpus = fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(physicalGpus, { minLength: 1, maxLength: 8 }), (nodes) => {
        const free = nodes.flat().filter((allocated) => allocated === 0).length;
        const [pool] = measurePlacement(placementMoment(nodes.map((allocated) => ({ allocated }))), byPods).pools;
        expect(pool?.possibleWholeFreeNodes).toBe(Math.floor(free / 4));
      }),
      runs,
    );
  });

  it("does not depend on the order of nodes and pods", () => {
    fc.assert(
      fc.property(anyMoment, (snapshot) => {
        const other = { ...turned(snapshot), pods: snapshot.pods.toReversed() };
        const [one, two] = [measurePlacement(snapshot, byPods), measurePlacement(other, byPods)];
        expect(one.target).toEqual(two.target);
        for (const [
          i,
          { expected, sharedFreeGpus, partitionedFreeGpus, unavailableFreeGpus, ...rest },
        ] of one.pools.entries()) {
          const same = two.pools[i];
          expect(same).toMatchObject(rest);
          expect(same?.expected.gpus).toBeCloseTo(expected.gpus, 9);
          expect(same?.sharedFreeGpus).toBeCloseTo(sharedFreeGpus, 9);
          expect(same?.partitionedFreeGpus).toBeCloseTo(partitionedFreeGpus, 9);
          expect(same?.unavailableFreeGpus).toBeCloseTo(unavailableFreeGpus, 9);
        }
      }),
      runs,
    );
  });
});

/** One thing that happens between two moments. */
type Change =
  | { readonly kind: "node"; readonly at: number; readonly node: PlacedNode }
  | { readonly kind: "allocated"; readonly at: number; readonly allocated: readonly number[] }
  | { readonly kind: "part"; readonly at: number; readonly part: Partial<PlacedNode> }
  | { readonly kind: "add" | "remove"; readonly at: number; readonly node: PlacedNode }
  | { readonly kind: "pods"; readonly at: number; readonly pods: readonly PodView[] }
  | { readonly kind: "target"; readonly isConfigured: boolean };

const at = fc.integer({ min: 0, max: 7 });
const nodeFacts = ["labels", "taints", "freeCores", "freeGib", "ready", "gpuModels"] as const;

/** One fact about a node that changes alone. */
const anyPart = fc
  .tuple(anyNode, fc.constantFrom(...nodeFacts))
  .map(([node, name]): Partial<PlacedNode> => ({ [name]: node[name] }));
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("node" as const), at, node: anyNode }),
  fc.record({ kind: fc.constant("allocated" as const), at, allocated: anyNode.map(({ allocated }) => allocated) }),
  fc.record({ kind: fc.constant("part" as const), at, part: anyPart }),
  fc.record({ kind: fc.constantFrom("add" as const, "remove" as const), at, node: anyNode }),
  fc.record({ kind: fc.constant("pods" as const), at, pods: anyPods }),
  fc.record({ kind: fc.constant("target" as const), isConfigured: fc.boolean() }),
);

interface Cluster {
  readonly nodes: readonly PlacedNode[];
  readonly pods: readonly (readonly PodView[])[];
  readonly isConfigured: boolean;
}

function changed(cluster: Cluster, change: Change): Cluster {
  const { nodes, pods } = cluster;
  if (change.kind === "target") return { ...cluster, isConfigured: change.isConfigured };
  const place = change.at % Math.max(1, nodes.length);
  switch (change.kind) {
    case "pods":
      return { ...cluster, pods: pods.with(change.at % pods.length, change.pods) };
    case "add":
      return { ...cluster, nodes: nodes.toSpliced(place, 0, change.node) };
    case "remove":
      return { ...cluster, nodes: nodes.toSpliced(place, 1) };
    case "node":
      return { ...cluster, nodes: nodes.map((node, i) => (i === place ? change.node : node)) };
    case "part":
      return { ...cluster, nodes: nodes.map((node, i) => (i === place ? { ...node, ...change.part } : node)) };
    case "allocated": {
      const hold = (node: PlacedNode) => ({
        ...node,
        allocated: node.allocated.map((share, i) => change.allocated[i] ?? share),
      });
      return { ...cluster, nodes: nodes.map((node, i) => (i === place ? hold(node) : node)) };
    }
  }
}

const targetWorkload = [targetShape({ gpus: 2, cpu: 4 }), targetShape({ gpus: 1, models: ["H100"], popularity: 2 })];

describe("what is kept between moments", () => {
  it("keeps GPUs apart that have as much left together", () => {
    const cache = createPlacementCache();
    const settings = { targetWorkload: [targetShape({ gpus: 0.6 })], ended: null };
    const amounts = [
      [0.5, 0.5],
      [0.7, 0.3],
    ].map((allocated) => measurePlacement(placementMoment([{ allocated }]), settings, cache).pools[0]?.expected.gpus);
    expect(amounts).toEqual([1, expect.closeTo(0.3)]);
  });

  it("looks at every node again when a rule names a label that none has named before", () => {
    const cache = createPlacementCache();
    const inZone = podsLike(39, asks(1, 0, 0, { nodeSelector: { zone: "a" } }));
    const onDisk = podsLike(1, asks(1, 0, 0, { nodeSelector: { disk: "fast" } }));
    const nodes = (first: string, second: string) => [
      { allocated: [0], labels: { zone: first, disk: "slow" } },
      { allocated: [0, 0], labels: { zone: second, disk: "slow" } },
    ];
    const keptOut = (snapshot: Snapshot) =>
      measurePlacement(snapshot, byPods, cache).pools[0]?.expected.byCause.no_access;
    expect(keptOut(placementMoment(nodes("a", "b"), inZone))).toBe(2);
    expect(keptOut(placementMoment(nodes("b", "a"), [...inZone, ...onDisk]))).toBe(1);
  });

  it("counts pods of one shape together that was forgotten and came back", () => {
    const cache = createPlacementCache();
    const [one, same] = [asks(1, 2), asks(1, 2)];
    const countOf = (pods: readonly PodView[]) =>
      measurePlacement(placementMoment([], pods), byPods, cache).target.shapes.map(({ pods: count }) => count);
    expect(countOf(podsLike(30, one))).toEqual([30]);
    expect(countOf(podsLike(20, asks(2)))).toEqual([20]);
    expect(cache.shapes.byKey.size).toBe(1);
    expect(countOf([...podsLike(10, same), ...podsLike(15, one)])).toEqual([25]);
    expect(countOf([...podsLike(11, same), ...podsLike(15, one)])).toEqual([26]);
  });

  it("follows pods wherever they come and go", () => {
    const anySplice = fc.record({ at: fc.nat(60), gone: fc.nat(12), come: fc.nat(12), from: fc.nat(5) });
    const kinds = [asks(1), asks(2), asks(2, 4), asks(4), asks(8), asks(1, 2)];
    fc.assert(
      fc.property(fc.array(fc.array(anySplice, { maxLength: 5 }), { minLength: 2, maxLength: 8 }), (moments) => {
        const cache = createShapeCache();
        let pods = kinds.flatMap((needs) => podsLike(7, needs));
        for (const splices of moments) {
          for (const { at: place, gone, come, from } of splices)
            pods = pods.toSpliced(place, gone, ...podsLike(come, kinds[from] ?? asks(1)));
          const snapshot = placementMoment([], pods);
          expect(countShapes(snapshot, [], cache)).toEqual(countShapes(snapshot, [], createShapeCache()));
        }
      }),
      { seed: 24, numRuns: 500 },
    );
  });

  it("changes no answer, whatever happens to nodes, pods and the target workload", () => {
    const start = fc.tuple(
      fc.array(anyNode, { minLength: 1, maxLength: 8 }),
      fc.array(anyPods, { minLength: 1, maxLength: 5 }),
    );
    fc.assert(
      fc.property(start, fc.array(anyChange, { minLength: 1, maxLength: 12 }), ([nodes, pods], changes) => {
        const cache = createPlacementCache();
        const momentOf = createMoments();
        let cluster: Cluster = { nodes, pods, isConfigured: false };
        for (const change of [null, ...changes]) {
          if (change !== null) cluster = changed(cluster, change);
          const snapshot = momentOf(cluster.nodes, cluster.pods.flat());
          const settings = { targetWorkload: cluster.isConfigured ? targetWorkload : [], ended: null };
          expect(measurePlacement(snapshot, settings, cache)).toEqual(measurePlacement(snapshot, settings));
        }
      }),
      { seed: 21, numRuns: 500 },
    );
  });

  it("follows nodes that come and go, and all that are behind them", () => {
    const anyPresence = fc.array(fc.boolean(), { minLength: 8, maxLength: 8 });
    const nodes = fc.array(anyNode, { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(nodes, anyPods, fc.array(anyPresence, { minLength: 2, maxLength: 6 }), (all, pods, moments) => {
        const cache = createPlacementCache();
        const momentOf = createMoments();
        const named = all.map((node, i) => ({ ...node, name: `named-${i}` }));
        for (const isThere of moments) {
          const snapshot = momentOf(
            named.filter((_, i) => isThere[i]),
            pods,
          );
          expect(measurePlacement(snapshot, byPods, cache)).toEqual(measurePlacement(snapshot, byPods));
        }
      }),
      { seed: 22, numRuns: 300 },
    );
  });
});
