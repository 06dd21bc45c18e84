import { describe, expect, it } from "vitest";
import { measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import { podNeeds } from "../../queues/kueueRows.ts";
import { device, holding, moment, nodeView } from "../momentBuilder.ts";
import { asks, byPods, gib, onlyPool, placementMoment, podsLike, targetShape } from "./placementBuilder.ts";

const free8 = [0, 0, 0, 0, 0, 0, 0, 0];
const one = { targetWorkload: [targetShape({ gpus: 1 })], ended: null };

describe("free GPUs", () => {
  it("are counted by kind: fully free, parts of shared GPUs, partitioned, and not available", () => {
    const pool = onlyPool(
      placementMoment([
        { allocated: [0, 0, 1, 0.25] },
        { allocated: [0, 0.5], physicalGpu: { slots: 4 } },
        { allocated: [0, 1], schedulable: false },
        { allocated: [0, 0, 0.5], ready: false },
        { allocated: [0, 1], physicalGpu: { unhealthy: true } },
        { allocated: [0, 0], physicalGpu: { orphanReservation: true } },
      ]),
    );
    expect(pool).toMatchObject({
      freeGpus: 2,
      sharedFreeGpus: 0.75,
      partitionedFreeGpus: 1.5,
      unavailableFreeGpus: 1 + 2.5 + 1 + 2,
    });
  });

  it("of MIG GPUs are their free instances and the parts that are not partitioned", () => {
    const instance = { gpuInstance: "1", profile: "1g.10gb", weight: 1 / 7 };
    const snapshot = placementMoment([
      { allocated: [0, 1 / 7, 0], physicalGpu: instance },
      { allocated: [0], physicalGpu: instance, ready: false },
    ]);
    const part = { uuid: null, model: "H100", pool: "H100", weight: 4 / 7 };
    const unpartitioned = [
      { ...part, node: "node-0" },
      { ...part, node: "node-1" },
    ];
    const pool = onlyPool({ ...snapshot, unpartitioned });
    expect(pool.freeGpus).toBe(0);
    expect(pool.partitionedFreeGpus).toBeCloseTo(6 / 7);
    expect(pool.unavailableFreeGpus).toBeCloseTo(5 / 7);
    expect(pool.migFragmentation).toEqual([]);
  });

  it("on which pods may be that nothing places are as few GPUs as can be", () => {
    const share = holding({ pod: 0, share: 0.5, estimated: true });
    const devices = [0, 1].map((i) => device({ uuid: `GPU-${i}`, holders: [share] }));
    const snapshot = moment({ nodes: [nodeView({ devices: [0, 1] })], devices, pods: podsLike(1, asks(1)) });
    expect(onlyPool(snapshot)).toMatchObject({ freeGpus: 1, sharedFreeGpus: 0, wholeFreeNodes: 0 });
  });

  it("of a node without a number of GPUs are not known, and a pool of such nodes is left out", () => {
    const nodes = [nodeView({ physicalGpus: null, devices: [] })];
    expect(measurePlacement(moment({ nodes, devices: [] }), byPods).pools).toEqual([]);
  });
});

describe("placeable pods", () => {
  it("are limited by GPUs, CPU and memory of each node", () => {
    // Of 2 GPUs: 4 by GPUs, 3 by 24 of 8 cores, 2 by 200 of 100 GiB; the other node has 3 free GPUs: 1.
    const pods = podsLike(20, asks(2, 8, 100));
    const pool = onlyPool(
      placementMoment(
        [
          { allocated: free8, freeCores: 24, freeGib: 200 },
          { allocated: [0, 0, 0], freeCores: 100 },
        ],
        pods,
      ),
    );
    expect(pool.placeablePods[2]).toBe(2 + 1);
    expect(pool.shapeFragmentation[2]).toBeCloseTo(1 - (2 * 3) / 11);
  });

  it("ask for the median of pods of their size, else for the median per GPU times the size", () => {
    const pods = [
      ...podsLike(3, asks(1, 2, 10)),
      ...podsLike(2, asks(1, 6, 50)),
      ...podsLike(3, asks(4, 40, 80)),
      ...podsLike(3, asks(4, 60, 120)),
      // Neither shares nor replicas nor MIG instances are whole GPUs.
      ...podsLike(50, asks(0, 1, 1), 0.5),
      ...podsLike(50, asks(4, 1, 1), 1),
      ...podsLike(50, podNeeds({ "nvidia.com/mig-7g.80gb": 1, cpu: 1, memory: 1 }), 1),
    ];
    const { typicalRequests } = onlyPool(placementMoment([{ allocated: free8 }], pods));
    // Cores per GPU: 3 x 2, 2 x 6, 3 x 10, 3 x 15; GiB per GPU: 3 x 10, 3 x 20, 3 x 30, 2 x 50.
    expect(typicalRequests).toEqual([
      { size: 1, cpuMilli: 2000, memoryBytes: 10 * gib, basis: "median" },
      { size: 2, cpuMilli: 20_000, memoryBytes: 40 * gib, basis: "scaled" },
      { size: 4, cpuMilli: 50_000, memoryBytes: 100 * gib, basis: "median" },
      { size: 8, cpuMilli: 80_000, memoryBytes: 160 * gib, basis: "scaled" },
    ]);
  });

  it("ask for whole milli CPU and bytes, where a median per GPU is not one", () => {
    const pods = [
      ...podsLike(20, asks(5, 16.1, 1)),
      ...podsLike(1, asks(1, 0.001, 0)),
      ...podsLike(1, asks(1, 0.002, 0)),
    ];
    const { typicalRequests } = onlyPool(placementMoment([{ allocated: free8 }], pods));
    // 16,100 / 5 x 2 and x 8; 2^30 / 5 x 2 and x 8, rounded up.
    expect(typicalRequests).toEqual([
      { size: 1, cpuMilli: 2, memoryBytes: 0, basis: "median" },
      { size: 2, cpuMilli: 6440, memoryBytes: 429_496_730, basis: "scaled" },
      { size: 4, cpuMilli: 12_880, memoryBytes: 858_993_460, basis: "scaled" },
      { size: 8, cpuMilli: 25_760, memoryBytes: 1_717_986_919, basis: "scaled" },
    ]);
  });

  it("ask only like pods that may go to the pool", () => {
    const pods = [
      ...podsLike(30, asks(1, 64, 0, { nodeSelector: { zone: "b" } })),
      ...podsLike(2, asks(1, 4, 0, { nodeSelector: { zone: "a" } })),
    ];
    const pool = onlyPool(placementMoment([{ allocated: free8, labels: { zone: "a" }, freeCores: 16 }], pods));
    expect(pool.typicalRequests[0]).toMatchObject({ cpuMilli: 4000, basis: "median" });
    expect(pool.placeablePods[1]).toBe(4);
  });

  it("without any pods ask for GPUs alone", () => {
    const pool = onlyPool(placementMoment([{ allocated: [0, 0, 0, 1], freeCores: 1 }, { allocated: [0, 0] }]));
    expect(pool.typicalRequests.map(({ basis }) => basis)).toEqual(["none", "none", "none", "none"]);
    expect(pool.placeablePods).toEqual({ 1: 5, 2: 2, 4: 0, 8: 0 });
    expect(pool.shapeFragmentation).toEqual({ 1: 0, 2: 1 - 4 / 5, 4: 1, 8: 0 });
    expect(pool.largestPlaceablePod).toBe(3);
  });

  it("are at most as large as CPU and memory of one node allow", () => {
    const pods = podsLike(20, asks(1, 4, 10));
    const pool = onlyPool(
      placementMoment(
        [
          { allocated: free8, freeCores: 23, freeGib: 500 },
          { allocated: free8, freeCores: 100, freeGib: 65 },
        ],
        pods,
      ),
    );
    expect(pool.largestPlaceablePod).toBe(6);
  });
});

describe("whole free nodes", () => {
  it("are compared with those that there could be if what is allocated were moved together", () => {
    // 13 of 32 GPUs are free, which is one node of 8.
    const nodes = [5, 4, 3, 1].map((free) => ({ allocated: free8.map((_, i) => (i < free ? 0 : 1)) }));
    expect(onlyPool(placementMoment(nodes))).toMatchObject({
      freeGpus: 13,
      wholeFreeNodes: 0,
      possibleWholeFreeNodes: 1,
    });
  });

  it("are those with fewest GPUs where nodes differ", () => {
    const pool = onlyPool(
      placementMoment([{ allocated: [0, 0, 0, 0, 1, 1, 1, 1] }, { allocated: [0, 1] }, { allocated: [1, 1] }]),
    );
    expect(pool).toMatchObject({ freeGpus: 5, wholeFreeNodes: 0, possibleWholeFreeNodes: 2 });
  });

  it("leave out nodes that cannot be used, and count nodes with replicas as they are", () => {
    const pool = onlyPool(
      placementMoment([
        { allocated: [0, 0], ready: false },
        { allocated: [0, 0], physicalGpu: { slots: 4 } },
        { allocated: [0, 0.25], physicalGpu: { slots: 4 } },
        { allocated: [0, 0] },
      ]),
    );
    expect(pool).toMatchObject({ wholeFreeNodes: 2, possibleWholeFreeNodes: 2 });
  });
});

/** A node with a whole GPU and one with replicas, as much of each held as given. */
const mixedNode = (name: string, whole: number, replicas: number, first: number) => ({
  node: nodeView({ name, physicalGpus: 2, devices: [first, first + 1] }),
  devices: [
    device({ node: name, holders: whole === 0 ? [] : [holding({ pod: -1, share: whole })] }),
    device({ node: name, slots: 4, holders: replicas === 0 ? [] : [holding({ pod: -1, share: replicas })] }),
  ],
});

describe("nodes with GPUs of several kinds", () => {
  const nodes = [mixedNode("a", 0, 0, 0), mixedNode("b", 1, 0.25, 2)];
  const plain = { node: nodeView({ name: "c", devices: [4] }), devices: [device({ node: "c", holders: [holding()] })] };
  const all = [...nodes, plain];
  const snapshot = moment({ nodes: all.map(({ node }) => node), devices: all.flatMap(({ devices }) => devices) });

  it("count as they are: their free GPUs make no other node whole", () => {
    expect(onlyPool(snapshot)).toMatchObject({ freeGpus: 1, wholeFreeNodes: 1, possibleWholeFreeNodes: 1 });
  });

  it("strand their free GPUs where typical pods ask for replicas alone", () => {
    const pods = podsLike(20, podNeeds({ "nvidia.com/gpu": 1 }), 0.25);
    expect(onlyPool({ ...snapshot, pods }).strandedGpus).toEqual({ gpus: 1 });
    expect(onlyPool({ ...snapshot, pods }).expected.gpus).toBeCloseTo(1);
  });
});

describe("stranded GPUs", () => {
  const small = { ...one, targetWorkload: [targetShape({ gpus: 2, cpu: 8, memoryBytes: 100 * gib })] };
  const node = { allocated: [0, 0, 0, 1], freeCores: 64, freeGib: 500 };

  it.each([
    ["none", {}, {}],
    ["constraint", { gpuModels: ["A100"] }, { constraint: 3 }],
    ["gpus", { allocated: [0, 1, 1, 1] }, { gpus: 1 }],
    ["cpu", { freeCores: 7 }, { cpu: 3 }],
    ["memory", { freeGib: 99 }, { memory: 3 }],
    ["cpu_and_memory", { freeCores: 7, freeGib: 99 }, { cpu_and_memory: 3 }],
    ["gpus before cpu", { allocated: [0, 1, 1, 1], freeCores: 7 }, { gpus: 1 }],
  ])("are of no use to the only typical pod: %s", (_name, change, stranded) => {
    const targetWorkload = small.targetWorkload.map((shape) => ({ ...shape, models: ["H100"] }));
    const snapshot = placementMoment([{ ...node, ...change }]);
    expect(onlyPool(snapshot, { ...small, targetWorkload }).strandedGpus).toEqual(stranded);
  });

  it("lack different things for different pods", () => {
    const targetWorkload = [targetShape({ gpus: 1, cpu: 100 }), targetShape({ gpus: 1, memoryBytes: 1000 * gib })];
    expect(onlyPool(placementMoment([node]), { ...one, targetWorkload }).strandedGpus).toEqual({ cpu_and_memory: 3 });
  });

  it("lack what is missing for all, whatever else some of them miss", () => {
    const both = targetShape({ gpus: 1, cpu: 100, memoryBytes: 1000 * gib });
    const strandedOf = (other: ReturnType<typeof targetShape>) =>
      onlyPool(placementMoment([node]), { ...one, targetWorkload: [both, other] }).strandedGpus;
    expect(strandedOf(targetShape({ gpus: 1, cpu: 100 }))).toEqual({ cpu: 3 });
    expect(strandedOf(targetShape({ gpus: 1, memoryBytes: 1000 * gib }))).toEqual({ memory: 3 });
    expect(strandedOf(targetShape({ gpus: 4, cpu: 100 }))).toEqual({ cpu_and_memory: 3 });
  });

  it("are none where one rare pod could use them", () => {
    const targetWorkload = [targetShape({ gpus: 8 }), targetShape({ gpus: 0.5, popularity: 0.001 })];
    expect(onlyPool(placementMoment([node]), { ...one, targetWorkload }).strandedGpus).toEqual({});
  });

  it("are of no use to pods that ask for MIG instances", () => {
    const targetWorkload = [targetShape({ gpus: 1 / 7, migProfile: "1g.10gb" })];
    expect(onlyPool(placementMoment([node]), { ...one, targetWorkload }).strandedGpus).toEqual({ gpus: 3 });
  });
});
