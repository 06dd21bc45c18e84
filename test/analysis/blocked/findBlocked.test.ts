import { describe, expect, it } from "vitest";
import type { UnpartitionedPart } from "../../../exporter/join/snapshot.ts";
import type { ResourceAmounts } from "../../../exporter/model/node.ts";
import type { PodNeeds } from "../../../exporter/model/queues/podNeeds.ts";
import { now } from "../../join/clusterBuilder.ts";
import { device, nodeView } from "../momentBuilder.ts";
import { part, requests, type TestNode, waitingGang, waitingMoment } from "../waiting/waitingBuilder.ts";
import { blockedAt, blockedWork } from "./blockedWork.ts";

const half: TestNode = { allocated: [1, 1, 0, 0] };
const full: TestNode = { allocated: [1, 1, 1, 1] };

const one = (amounts: ResourceAmounts, parts: Partial<PodNeeds> = {}, gpus = amounts["nvidia.com/gpu"] ?? 1) =>
  waitingGang([part(1, gpus, requests(amounts, parts))]);
const blocker = (nodes: readonly TestNode[], gang: ReturnType<typeof one>) => blockedWork(nodes, gang)?.blocker;

describe("work for which too many nodes have a free GPU each", () => {
  it("is blocked by spread, with what it needs and what is free", () => {
    const gang = { ...waitingGang([part(1, 4)]), kind: "Job", namespace: "research", name: "train", uid: "u1" };
    expect(blockedWork([half, half, full], gang)).toEqual({
      gang: 0,
      key: "Job/research/train u1",
      pools: ["H100"],
      gpus: 4,
      freeGpus: 4,
      blocker: "spread",
      since: now,
      isStanding: false,
    });
  });

  it("is not blocked where it fits, or where less is free in all", () => {
    expect(blockedWork([half, half], waitingGang([part(2, 2)]))).toBeUndefined();
    expect(blockedWork([half, full], waitingGang([part(1, 3)]))).toBeUndefined();
    expect(blockedWork([half, half], waitingGang([part(1, 4)]))?.blocker).toBe("spread");
    expect(blockedWork([half, half], waitingGang([part(5, 1)]))).toBeUndefined();
  });

  it("counts the members that it needs to start, not all of them", () => {
    const gang = waitingGang([part(3, 2)], { min: 2 });
    expect(blockedWork([half, half], gang)).toBeUndefined();
    expect(blockedWork([{ allocated: [1, 0] }, { allocated: [1, 0] }, half], gang)?.gpus).toBe(4);
  });

  it("is blocked likewise in shares of GPUs", () => {
    const fraction = waitingGang([part(1, 0.5, requests({ cpu: 0 }))]);
    expect(blockedWork([{ allocated: [0.75, 0.75] }], fraction)?.blocker).toBe("spread");
    expect(blockedWork([{ allocated: [0.75, 0.5] }], fraction)).toBeUndefined();
    expect(blockedWork([{ allocated: [0.75, 0.8] }], fraction)).toBeUndefined();
  });

  it("does not count GPUs of nodes that take nobody", () => {
    const gang = waitingGang([part(1, 4)]);
    expect(blockedWork([half, { ...half, schedulable: false }], gang)).toBeUndefined();
    expect(blockedWork([half, { ...half, ready: false }], gang)).toBeUndefined();
    expect(blockedWork([half, { ...half, physicalGpu: { unhealthy: true } }], gang)).toBeUndefined();
  });
});

describe("work for which a node lacks other things", () => {
  const wants = (cpu: number, memory: number) => one({ "nvidia.com/gpu": 2, cpu, memory });
  const node: TestNode = {
    ...half,
    allocatableCpuMilli: 8000,
    allocatableMemoryBytes: 800,
    cpuMilliUsed: 6000,
    memoryBytesUsed: 600,
  };

  it.each([
    [2, 200, undefined],
    [3, 200, "cpu"],
    [2, 201, "memory"],
    [3, 201, "cpu_and_memory"],
  ])("of %d CPU and %d bytes of memory is blocked by %s", (cpu, memory, expected) => {
    expect(blocker([node], wants(cpu, memory))).toBe(expected);
  });

  it("is not blocked by CPU where it would not fit with more of it", () => {
    const gang = one({ "nvidia.com/gpu": 4, cpu: 3 });
    expect(blocker([node, node], gang)).toBe("spread");
  });

  it("has no such blocker where nobody knows what pods ask for", () => {
    const moment = waitingMoment([node], [wants(8, 800)]);
    expect(blockedAt({ ...moment, requestsByNode: null }).work).toEqual([]);
  });
});

describe("work that takes only some nodes", () => {
  const a100: TestNode = { ...half, labels: { "nvidia.com/gpu.product": "A100" } };
  const h100: TestNode = { ...full, labels: { "nvidia.com/gpu.product": "H100", zone: "a" } };
  const h100Only = { nodeSelector: { "nvidia.com/gpu.product": "H100" } };

  it("is blocked by the model whose GPUs are all held", () => {
    expect(blocker([a100, h100], one({ "nvidia.com/gpu": 2 }, h100Only))).toBe("model");
    expect(blocker([a100, h100], one({ "nvidia.com/gpu": 2 }, { nodeSelector: { zone: "a" } }))).toBe("selector");
  });

  it.each(["cloud.google.com/gke-accelerator", "karpenter.k8s.aws/instance-gpu-name", "nvidia.com/gpu.family"])(
    "knows %s for a label of the model, also in affinity",
    (key) => {
      const nodes = [half, { ...full, labels: { [key]: "x" } }];
      const nodeAffinity = [[{ key, operator: "In", values: ["x"] }]];
      expect(blocker(nodes, one({ "nvidia.com/gpu": 2 }, { nodeAffinity }))).toBe("model");
    },
  );

  it("is blocked by the model alone where other requirements of the same term are met", () => {
    const nodeAffinity = [
      [
        { key: "nvidia.com/gpu.product", operator: "In", values: ["H100"] },
        { key: "zone", operator: "Exists", values: [] },
      ],
    ];
    const gang = one({ "nvidia.com/gpu": 2 }, { nodeAffinity });
    expect(blocker([{ ...a100, labels: { ...a100.labels, zone: "b" } }, h100], gang)).toBe("model");
    // Neither alone would let it in.
    expect(blocker([a100, h100], gang)).toBe("spread");
  });

  it("is blocked by a taint that it does not tolerate", () => {
    const taints = [{ key: "team", value: "vision", effect: "NoSchedule" }] as const;
    const tolerations = [{ key: "team", operator: "Exists", value: "", effect: null }] as const;
    expect(blocker([{ ...half, taints }], one({ "nvidia.com/gpu": 2 }))).toBe("selector");
    expect(blocker([{ ...half, taints }], one({ "nvidia.com/gpu": 2 }, { tolerations }))).toBeUndefined();
  });
});

describe("work of a queue system that places by topology", () => {
  const reason = "TopologyPlacementFailed: topology has no place";

  it("is blocked by topology where its pods would fit without", () => {
    expect(blockedWork([half], waitingGang([part(1, 2)], { reason }))?.blocker).toBe("topology");
    expect(blockedWork([half], waitingGang([part(1, 2)]))).toBeUndefined();
  });

  it("is blocked by something else where they would not", () => {
    expect(blockedWork([half, half], waitingGang([part(1, 4)], { reason }))?.blocker).toBe("spread");
    expect(blockedWork([half], waitingGang([part(1, 3)], { reason }))).toBeUndefined();
  });
});

describe("work in MIG instances", () => {
  const resource = "nvidia.com/mig-3g.40gb";
  const large = { profile: "3g.40gb", weight: 3 / 7 };
  const small = { profile: "1g.10gb", weight: 1 / 7 };
  const gang = one({ [resource]: 1 }, {}, 3 / 7);

  /** A node with one GPU of instances; `rest` are its slices that are in none. */
  function gpuOf(instances: readonly (typeof large & { readonly allocated: boolean })[], rest = 0) {
    const devices = instances.map(({ allocated, profile, weight }, i) =>
      device({
        uuid: "GPU-0",
        gpuInstance: String(i),
        profile,
        weight,
        holders: allocated
          ? [{ pod: 0, share: weight, source: "dcgm", estimated: false, activity: null, idleSince: null }]
          : [],
      }),
    );
    const part: UnpartitionedPart = { node: "n", uuid: "GPU-0", model: "H100", pool: "H100", weight: rest };
    const moment = waitingMoment([], [gang]);
    return {
      ...moment,
      devices,
      unpartitioned: rest > 0 ? [part] : [],
      nodes: [nodeView({ devices: devices.map((_device, i) => i) })],
    };
  }
  const blockerOf = (...args: Parameters<typeof gpuOf>) => blockedAt(gpuOf(...args)).work[0]?.blocker;
  const [allocatedLarge, allocatedSmall, freeSmall] = [
    { ...large, allocated: true },
    { ...small, allocated: true },
    { ...small, allocated: false },
  ];

  it("is blocked by the geometry where free slices are enough, but in instances of other profiles or in none", () => {
    expect(blockerOf([allocatedLarge, freeSmall, freeSmall, freeSmall])).toBe("mig_geometry");
    expect(blockerOf([allocatedLarge], 4 / 7)).toBe("mig_geometry");
    expect(blockerOf([allocatedLarge, allocatedSmall, freeSmall], 2 / 7)).toBe("mig_geometry");
  });

  it("is not blocked with fewer free slices, or with a free instance", () => {
    expect(blockerOf([allocatedLarge, allocatedSmall, allocatedSmall, freeSmall, freeSmall])).toBeUndefined();
    expect(blockerOf([allocatedLarge, { ...large, allocated: false }])).toBeUndefined();
  });

  it("is blocked by spread where no GPU has enough free slices", () => {
    const moment = gpuOf([allocatedLarge, freeSmall, freeSmall, allocatedSmall, allocatedSmall]);
    const devices = moment.devices.map((one, i) => ({ ...one, uuid: i === 1 ? "GPU-1" : "GPU-2" }));
    const part: UnpartitionedPart = { node: "n", uuid: "GPU-1", model: "H100", pool: "H100", weight: 1 / 7 };
    expect(blockedAt({ ...moment, devices, unpartitioned: [part] }).work[0]?.blocker).toBe("spread");
  });

  it("counts slices of ready nodes and of the profile's pools alone", () => {
    const moment = gpuOf([allocatedLarge], 4 / 7);
    const [node] = moment.nodes;
    if (node === undefined) throw new Error("no node");
    expect(blockedAt(moment).work[0]).toMatchObject({ freeGpus: 4 / 7, gpus: 3 / 7, pools: ["H100"] });
    expect(blockedAt({ ...moment, nodes: [{ ...node, ready: false }] }).work).toEqual([]);
    const elsewhere = moment.unpartitioned.map((rest) => ({ ...rest, pool: "A100" }));
    expect(blockedAt({ ...moment, unpartitioned: elsewhere }).work).toEqual([]);
  });
});

describe("work that is not looked at", () => {
  it.each(["paused", "above-limit", "no-node", "no-queue"] as const)("can never run: %s", (never) => {
    expect(blockedWork([half, half], waitingGang([part(1, 4)], { never }))).toBeUndefined();
  });

  it("asks for what is not known, for nothing, or for what no pool has", () => {
    expect(blockedWork([half, half], waitingGang([part(1, null)]))).toBeUndefined();
    expect(blockedWork([half, half], waitingGang([part(1, 0)]))).toBeUndefined();
    expect(blockedWork([half, half], waitingGang([part(1, 4, { domain: null })]))).toBeUndefined();
    expect(blockedWork([half, half], waitingGang([part(1, 5)]))).toBeUndefined();
  });
});
