import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import type { Placement } from "../../../exporter/analysis/placement/poolPlacement.ts";
import type { PodView } from "../../../exporter/join/snapshot.ts";
import { strandedReasons } from "../../../exporter/model/fragmentation.ts";
import { placedSizes } from "../../../exporter/model/placedSizes.ts";
import type { EndedShape, PopularShape } from "../../../exporter/model/podShape.ts";
import type { PodNeeds } from "../../../exporter/model/queues/podNeeds.ts";
import { podView } from "../momentBuilder.ts";
import { type NaiveNode, type NaiveTask, naiveFragmentation, naiveTarget, unusable } from "./naiveFragmentation.ts";
import {
  fitting,
  largestPod,
  medianRequest,
  partlyFree,
  possibleFreeNodes,
  strandedGpus,
  wholeFree,
  wholeFreeNodes,
} from "./naiveMeasures.ts";
import { snapshotOfNodes } from "./placedNodes.ts";

type Task = Omit<NaiveTask, "popularity">;

const gib = 2 ** 30;

/** What a pod like this says; a part of a GPU is asked for by an annotation, which is no request. */
function needsOf({ cpu, memory, gpus, share, models }: Task): PodNeeds {
  return {
    requests: { cpu: cpu / 1000, memory, ...(share === 1 ? { "nvidia.com/gpu": gpus } : {}) },
    nodeSelector: models[0] === undefined ? {} : { model: models[0] },
    nodeAffinity: [],
    tolerations: [],
  };
}

/** The other way round. */
function taskOf({ needs, gpus, popularity }: PopularShape): NaiveTask {
  const { model } = needs.nodeSelector;
  return {
    cpu: (needs.requests.cpu ?? 0) * 1000,
    memory: needs.requests.memory ?? 0,
    gpus: Math.max(1, gpus),
    share: Math.min(1, gpus),
    models: model === undefined ? [] : [model],
    popularity,
  };
}

/** Nodes as `snapshotOfNodes` makes them, each with its model as a label. */
function placementOf(nodes: readonly NaiveNode[], pods: readonly Task[], ended: readonly EndedShape[]): Placement {
  const views = pods.map((pod, i): PodView => {
    const status = i % 2 === 0 ? ("allocated" as const) : ("pending" as const);
    return podView({
      uid: `p${i}`,
      name: `p${i}`,
      node: null,
      status,
      gpus: pod.gpus * pod.share,
      needs: needsOf(pod),
    });
  });
  const snapshot = snapshotOfNodes(nodes, { pods: views });
  const labelled = snapshot.nodes.map((node) => ({ ...node, labels: { model: node.gpuModels[0] ?? "" } }));
  return measurePlacement({ ...snapshot, nodes: labelled }, { targetWorkload: [], ended });
}

const model = fc.constantFrom("T4", "A100", "H100");
const cpu = fc.constantFrom(0, 2000, 4000, 8000, 9000, 32_000);
const memory = fc.constantFrom(0, 4, 8, 16, 48).map((n) => n * gib);
const anyNode: fc.Arbitrary<NaiveNode> = fc.record({
  cpu: fc.nat({ max: 12 }).map((n) => 4000 * n),
  memory: fc.nat({ max: 8 }).map((n) => 16 * gib * n),
  free: fc.array(fc.constantFrom(1, 1, 1, 1, 0, 0, 0.5, 0.25, 0.75), { minLength: 1, maxLength: 8 }),
  model,
});
const anyPod: fc.Arbitrary<Task> = fc
  .record({
    cpu,
    memory,
    size: fc.constantFrom([1, 0.5], [1, 0.25], [1, 1], [1, 1], [2, 1], [3, 1], [4, 1], [8, 1]),
    models: fc.oneof(
      fc.constant([]),
      model.map((one) => [one]),
    ),
  })
  .map(({ size: [gpus = 0, share = 0], ...rest }) => ({ ...rest, gpus, share }));
/** Few kinds of pods, so that some are common. */
const anyPods = fc
  .tuple(fc.array(anyPod, { minLength: 1, maxLength: 14 }), fc.array(fc.nat(), { minLength: 24, maxLength: 60 }))
  .map(([kinds, picks]) => picks.flatMap((pick) => kinds[(pick * pick) % kinds.length] ?? []));
const anyCluster = fc.record({
  nodes: fc.array(anyNode, { minLength: 1, maxLength: 14 }),
  pods: anyPods,
  ended: fc.array(fc.record({ pod: anyPod, pods: fc.integer({ min: 1, max: 9 }) }), { maxLength: 4 }),
});

/** Pods that ended count as often as there were. */
const all = (
  pods: readonly Task[],
  ended: readonly { readonly pod: Task; readonly pods: number }[],
): readonly Task[] => [...pods, ...ended.flatMap(({ pod, pods: count }) => Array.from({ length: count }, () => pod))];

const shapesOf = (ended: readonly { readonly pod: Task; readonly pods: number }[]): readonly EndedShape[] =>
  ended.map(({ pod, pods }) => ({ gpus: pod.gpus * pod.share, needs: needsOf(pod), pods }));

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b);

describe("generated clusters, whose pods run, wait and have ended", () => {
  test("the target workload is the smallest number of shapes that covers 95 % of them", () => {
    fc.assert(
      fc.property(anyCluster, ({ nodes, pods, ended }) => {
        const { target } = placementOf(nodes, pods, shapesOf(ended));
        const counted = all(pods, ended);
        const naive = naiveTarget(counted);
        expect(target).toMatchObject({ source: "pods", pods: counted.length });
        // Of shapes that are equally common either may be in.
        expect(target.shapes).toHaveLength(naive.length);
        const popularities = sorted(target.shapes.map(({ popularity }) => popularity));
        for (const [i, one] of sorted(naive.map(({ popularity }) => popularity)).entries())
          expect(popularities[i]).toBeCloseTo(one, 12);
        for (const shape of target.shapes) {
          const { popularity: _, ...task } = taskOf(shape);
          const same = counted.filter((pod) => JSON.stringify(needsOf(pod)) === JSON.stringify(needsOf(task)));
          expect(shape.pods).toBe(same.filter((pod) => pod.share === task.share).length);
        }
      }),
      { numRuns: 300, seed: 20_261_204 },
    );
  });

  test("every measure of every pool is the one that is counted by hand", () => {
    fc.assert(
      fc.property(anyCluster, ({ nodes, pods, ended }) => {
        const { pools, target } = placementOf(nodes, pods, shapesOf(ended));
        const tasks = target.shapes.map(taskOf);
        for (const found of pools) {
          const own = nodes.filter((node) => node.model === found.pool);
          const sum = (of: (node: NaiveNode) => number): number => own.reduce((total, node) => total + of(node), 0);
          const free = sum(wholeFree);
          expect(found.freeGpus).toBe(free);
          expect(found.sharedFreeGpus).toBeCloseTo(sum(partlyFree), 9);
          expect([found.partitionedFreeGpus, found.unavailableFreeGpus]).toEqual([0, 0]);

          const mayGo = all(pods, ended).filter(({ models }) => models.length === 0 || models.includes(found.pool));
          const requestOf = (size: number) => medianRequest(mayGo, size);
          for (const [i, size] of placedSizes.entries()) {
            const request = requestOf(size);
            expect(found.typicalRequests[i]).toMatchObject({ cpuMilli: request.cpu, memoryBytes: request.memory });
            const placed = sum((node) => fitting(node, size, request));
            expect(found.placeablePods[size], `placeable pods of ${size}`).toBe(placed);
            expect(found.shapeFragmentation[size]).toBeCloseTo(free < size ? 0 : 1 - (size * placed) / free, 9);
          }
          expect(found.largestPlaceablePod).toBe(largestPod(own, requestOf));
          expect(found.wholeFreeNodes).toBe(wholeFreeNodes(own));
          expect(found.possibleWholeFreeNodes).toBe(possibleFreeNodes(own));

          const stranded = strandedGpus(own, tasks);
          for (const reason of strandedReasons)
            expect(found.strandedGpus[reason] ?? 0, `stranded by ${reason}`).toBe(stranded.get(reason) ?? 0);
          expect(found.expected.gpus).toBeCloseTo(unusable(naiveFragmentation(own, tasks)), 9);
        }
      }),
      { numRuns: 500, seed: 20_261_205 },
    );
  });

  test("what can be placed can be placed: one after the other, until nothing fits", () => {
    fc.assert(
      fc.property(fc.array(anyNode, { minLength: 1, maxLength: 6 }), fc.constantFrom(...placedSizes), (nodes, size) => {
        const one = nodes.map((node) => ({ ...node, model: "T4" }));
        const pods = Array.from({ length: 20 }, () => ({
          cpu: 4000,
          memory: 16 * gib,
          gpus: size,
          share: 1,
          models: [],
        }));
        const freeCapacities = one.map((node) => ({ cpu: node.cpu, memory: node.memory, gpus: wholeFree(node) }));
        let placed = 0;
        for (;;) {
          const freeCapacity = freeCapacities.find((r) => r.gpus >= size && r.cpu >= 4000 && r.memory >= 16 * gib);
          if (freeCapacity === undefined) break;
          freeCapacity.gpus -= size;
          freeCapacity.cpu -= 4000;
          freeCapacity.memory -= 16 * gib;
          placed += 1;
        }
        expect(placementOf(one, pods, []).pools[0]?.placeablePods[size]).toBe(placed);
      }),
      { numRuns: 200, seed: 20_261_206 },
    );
  });
});
