import { describe, expect, it } from "vitest";
import type { FreeCapacity } from "../../../exporter/analysis/freeCapacity/nodeFreeCapacity.ts";
import { podDemand } from "../../../exporter/analysis/freeCapacity/podDemand.ts";
import { type AskedShape, expectedFragmentation } from "../../../exporter/analysis/placement/caseTable.ts";
import { measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import type { TargetShape } from "../../../exporter/config/moneySchema.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { asks, gib, onlyPool, type PlacedNode, placementMoment, podsLike, targetShape } from "./placementBuilder.ts";

/** Two free GPUs and half of a third one, 16 cores and 100 GiB. */
const node: PlacedNode = { allocated: [0, 0, 0.5, 1], freeCores: 16, freeGib: 100, taints: [] };

const expectedOf = (shapes: readonly Partial<TargetShape>[], change: Partial<PlacedNode> = {}) =>
  onlyPool(placementMoment([{ ...node, ...change }]), { targetWorkload: shapes.map(targetShape), ended: null })
    .expected;

describe("the case table", () => {
  it.each<[string, Partial<TargetShape>, object]>([
    ["asks for no GPU, and fits", { gpus: 0, cpu: 1 }, { no_gpu_task: 2.5 }],
    ["asks for no GPU, and lacks CPU", { gpus: 0, cpu: 17 }, { no_gpu_task: 2.5 }],
    ["asks for no GPU of a model that is not there", { gpus: 0, models: ["A100"] }, { no_gpu_task: 2.5 }],
    ["wants another model", { gpus: 1, models: ["A100", "H200"] }, { no_access: 2.5 }],
    ["wants a label that the node has not", { gpus: 1, nodeSelector: { zone: "b" } }, { no_access: 2.5 }],
    ["wants one of several models", { gpus: 1, models: ["A100", "H100"] }, { lack_gpu: 0.5 }],
    ["fits on whole GPUs", { gpus: 2, cpu: 16, memoryBytes: 100 * gib }, { lack_gpu: 0.5 }],
    ["fits on every GPU", { gpus: 0.5 }, {}],
    ["fits, but not onto the shared GPU", { gpus: 0.6 }, { lack_gpu: 0.5 }],
    ["lacks CPU", { gpus: 1, cpu: 16.1 }, { lack_cpu: 2.5 }],
    ["lacks memory", { gpus: 1, memoryBytes: 101 * gib }, { lack_memory: 2.5 }],
    ["lacks CPU and memory", { gpus: 1, cpu: 17, memoryBytes: 101 * gib }, { lack_cpu_and_memory: 2.5 }],
    ["lacks GPUs", { gpus: 3 }, { lack_gpu: 2.5 }],
    ["lacks GPUs and CPU", { gpus: 3, cpu: 17 }, { lack_both: 2.5 }],
    ["lacks GPUs and memory", { gpus: 3, memoryBytes: 101 * gib }, { lack_both: 2.5 }],
    ["asks for a MIG instance", { gpus: 1 / 7, migProfile: "1g.10gb" }, { lack_gpu: 2.5 }],
  ])("of a pod that %s", (_name, shape, byCause) => {
    const expected = expectedOf([shape]);
    const gpus = Object.values(byCause).reduce((sum, one) => sum + one, 0);
    expect(expected).toEqual({ gpus, ratio: gpus / 2.5, byCause });
  });

  it("weighs shapes by how common they are", () => {
    const shapes = [
      { gpus: 1, popularity: 3 },
      { gpus: 4, popularity: 1 },
    ];
    expect(expectedOf(shapes)).toEqual({
      gpus: 0.75 * 0.5 + 0.25 * 2.5,
      ratio: 1 / 2.5,
      byCause: { lack_gpu: 0.75 * 0.5 + 0.25 * 2.5 },
    });
  });

  it("takes amounts as enough that are a rounding apart", () => {
    const shape = { gpus: 1, cpu: 16 * (1 + 1e-9), memoryBytes: 100 * gib * (1 + 1e-9) };
    expect(expectedOf([shape]).byCause).toEqual({ lack_gpu: 0.5 });
    expect(expectedOf([{ gpus: 0.5 + 1e-9 }]).byCause).toEqual({});
  });

  it("lacks neither CPU nor memory where nothing says what there is", () => {
    const { freeCores: _, freeGib: __, ...unknown } = node;
    const { expected } = onlyPool(placementMoment([unknown]), {
      targetWorkload: [targetShape({ gpus: 2, cpu: 1e4, memoryBytes: 1e14 })],
      ended: null,
    });
    expect(expected.byCause).toEqual({ lack_gpu: 0.5 });
  });

  it("has no ratio where nothing is free, and no taint keeps configured shapes out", () => {
    expect(expectedOf([{ gpus: 1 }], { allocated: [1, 1] })).toEqual({ gpus: 0, ratio: null, byCause: {} });
    const taints = [{ key: "nvidia.com/gpu", value: "", effect: "NoSchedule" }] as const;
    expect(expectedOf([{ gpus: 1 }], { taints }).byCause).toEqual({ lack_gpu: 0.5 });
  });

  it("keeps pods off nodes whose taints they do not tolerate", () => {
    const taints = [{ key: "team", value: "search", effect: "NoSchedule" }] as const;
    const snapshot = placementMoment([{ ...node, taints }], podsLike(20, asks(1)));
    expect(onlyPool(snapshot).expected.byCause).toEqual({ no_access: 2.5 });
  });
});

describe("slots", () => {
  const freeCapacity: FreeCapacity = {
    gpus: 2 + 1 + 2 / 7,
    physicalGpus: [1, 1],
    slots: new Map([
      ["unit:250000", { count: 4, gpus: 1 }],
      ["mig:1g10gb", { count: 2, gpus: 2 / 7 }],
      ["unit:142857", { count: 2, gpus: 2 / 7 }],
    ]),
    cpuMilli: Number.POSITIVE_INFINITY,
    memoryBytes: Number.POSITIVE_INFINITY,
  };
  const shape = (gpus: number, requests: Record<string, number>): AskedShape => ({
    popularity: 1,
    demand: podDemand(gpus, podNeeds(requests)),
  });

  it.each([
    ["replicas leave everything else", 0.5, { "nvidia.com/gpu": 2 }, 2 + 2 / 7],
    ["more replicas than there are", 1.25, { "nvidia.com/gpu": 5 }, 3 + 2 / 7],
    ["MIG instances leave everything else", 1 / 7, { "nvidia.com/mig-1g.10gb": 1 }, 3],
    ["other instances", 2 / 7, { "nvidia.com/mig-2g.20gb": 1 }, 3 + 2 / 7],
    ["whole GPUs leave all slots", 1, { "nvidia.com/gpu": 1 }, 1 + 2 / 7],
    ["a GPU and an instance together", 8 / 7, { "nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 1 }, 1],
  ])("%s", (_name, gpus, requests, unusable) => {
    const found = expectedFragmentation(freeCapacity, [shape(gpus, requests)], () => true);
    expect(found.gpus).toBeCloseTo(unusable, 9);
    expect(Object.keys(found.byCause)).toEqual(["lack_gpu"]);
  });
});

describe("the cluster", () => {
  it("is judged for one target workload: pools that it may not use are out of its reach", () => {
    const snapshot = placementMoment([
      { allocated: [0, 0], pools: ["A100"], gpuModels: ["A100"], physicalGpu: { pool: "A100", model: "A100" } },
      { allocated: [0, 0] },
    ]);
    const targetWorkload = [targetShape({ models: ["H100"], popularity: 4 }), targetShape({ gpus: 2, popularity: 1 })];
    const { pools } = measurePlacement(snapshot, { targetWorkload, ended: null });
    expect(pools.map(({ pool, expected }) => [pool, expected.byCause])).toEqual([
      ["A100", { no_access: 1.6 }],
      ["H100", {}],
    ]);
  });
});
