import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accrue } from "../../exporter/accounts/accrue.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { AllocatedDevice, ClusterState } from "../../exporter/model/cluster.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import {
  allocated,
  claim,
  claimingPod,
  gfdLabels,
  gibibyte,
  gpuPod,
  node,
  now,
  page,
  pod,
  reading,
  slice,
  sliceGpu,
  sliceMig,
} from "../join/clusterBuilder.ts";
import { analysed, codes, holdingsOf, podOf, snapshotOf } from "../join/outcomes.ts";

const uuid = "GPU-0f0f0f0f-0000";
const hour = Math.floor(now / 3600) * 3600;

/** GPU-seconds of one hour in steps of 30 s: of each pod, and of what no pod holds. */
function hourOf(snapshot: Snapshot): { readonly pods: Readonly<Record<string, number>>; readonly free: number } {
  const analysis = analysed(snapshot);
  const pods: Record<string, number> = {};
  let free = 0;
  for (let from = hour; from < hour + 3600; from += 30) {
    const step = accrue(analysis, analysis, { from, to: from + 30, seconds: 30, intervalSeconds: 30 });
    for (const { workload, gpuSeconds } of step.postings) {
      if (workload === null) free += gpuSeconds;
      else pods[workload.name] = (pods[workload.name] ?? 0) + gpuSeconds;
    }
  }
  return { pods, free };
}

const names = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"];
const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);
const telemetry = [page("n", [reading(uuid, 0.5)])];
const t4 = (memoryMiB: number | null = 15_360) =>
  node("n", {
    capacity: { "nvidia.com/gpu": 1 },
    labels: {
      ...gfdLabels(1, memoryMiB === null ? "NVIDIA-Odd" : "Tesla-T4"),
      ...(memoryMiB === null ? {} : { "nvidia.com/gpu.memory": String(memoryMiB) }),
    },
  });

const kai = (annotations: (name: string) => Record<string, string>, memoryMiB?: number | null) => (count: number) => {
  const reservation = gpuPod("gpu-reservation", "n", 1, {
    namespace: "kai-resource-reservation",
    labels: { "runai-gpu-group": "g" },
    annotations: { "run.ai/reserve_for_gpu_index": uuid },
  });
  const fractions = names.slice(0, count).map((name) =>
    pod(name, "n", {
      schedulerName: "kai-scheduler",
      labels: { "runai-gpu-group": "g" },
      annotations: annotations(name),
    }),
  );
  return { nodes: [t4(memoryMiB)], pods: [reservation, ...fractions], telemetry };
};

const hami = (entry: string) => (count: number) => ({
  nodes: [
    node("n", {
      capacity: { "nvidia.com/gpu": 10 },
      labels: { "nvidia.com/gpu.product": "Tesla-T4" },
      annotations: { "hami.io/node-nvidia-register": `${uuid},10,15360,100,NVIDIA-Tesla T4,0,true:` },
    }),
  ],
  pods: names.slice(0, count).map((name) =>
    gpuPod(name, "n", 1, {
      annotations: { "hami.io/vgpu-devices-allocated": `${uuid},NVIDIA,${entry}:;` },
      gpu: { shares: { "nvidia.com/gpucores": 1 } },
    }),
  ),
  telemetry,
});

const replicas = (resource: string, labels: Record<string, string>) => (count: number) => ({
  nodes: [node("n", { capacity: { [resource]: 4 }, labels: { ...gfdLabels(1, "Tesla-T4"), ...labels } })],
  pods: names.slice(0, count).map((name) => gpuPod(name, "n", 1, {}, resource)),
  telemetry,
});

const claims = (
  slices: ClusterState["resourceSlices"],
  device: (index: number) => AllocatedDevice,
  count: number,
): Partial<ClusterState> => ({
  nodes: [node("n")],
  resourceSlices: slices,
  resourceClaims: names.slice(0, count).map((name, i) => claim(`c${i}`, [device(i)], [name])),
  pods: names.slice(0, count).map((name, i): Pod => claimingPod(name, "n", `c${i}`)),
  telemetry,
});

const consumable =
  (driver: string, type: string, capacity: Record<string, number>, consumedCapacity: Record<string, number>) =>
  (count: number) => {
    const device = { ...sliceGpu("d0", uuid), capacity, attributes: { type, uuid, productName: "Tesla T4" } };
    return claims(
      [slice("n", [device], { driver })],
      (i) => allocated("n", "d0", { driver, shareId: `s${i}`, consumedCapacity }),
      count,
    );
  };

const partitions = (product: string, profile: string) => (count: number) => ({
  ...claims(
    [
      slice("n", [
        sliceGpu("gpu-0", uuid, { attributes: { type: "gpu", uuid, productName: product } }),
        ...[0, 1, 2, 3].map((i) => sliceMig(`gpu-0-mig-${i}`, uuid, profile)),
      ]),
    ],
    (i) => allocated("n", `gpu-0-mig-${i}`),
    count,
  ),
  telemetry: [],
});

/** Every way in which a pod gets a quarter of a GPU. */
const mechanisms: readonly (readonly [name: string, make: (count: number) => Partial<ClusterState>])[] = [
  ["KAI, gpu-fraction", kai(() => ({ "gpu-fraction": "0.25" }))],
  ["KAI, gpu-memory", kai(() => ({ "gpu-memory": "3840" }))],
  ["KAI, memory request of a container", kai(() => ({ "nvidia.com/container.main.gpu-memory.request": "3840Mi" }))],
  [
    "KAI, memory request below its limit",
    kai((name) => ({
      [`nvidia.com/container.${name}.main.gpu-memory.request`]: "3.75Gi",
      [`nvidia.com/container.${name}.main.gpu-memory.limit`]: "8Gi",
    })),
  ],
  ["KAI, memory limit of a container alone", kai(() => ({ "nvidia.com/container.a-b.gpu-memory.limit": "3932160Ki" }))],
  [
    "KAI, fraction with the memory that its binder adds",
    kai(() => ({
      "gpu-fraction": "0.25",
      "nvidia.com/container.main.gpu-memory.request": "3700Mi",
      "nvidia.com/container.main.gpu-compute.portion": "0.25",
      "nvidia.com/container.main.gpus.devices": `k8s.device-plugin.nvidia.com/gpu=${uuid}`,
    })),
  ],
  [
    "KAI, memory on a GPU whose memory is not known, with the portion of its binder",
    kai(
      () => ({
        "nvidia.com/container.main.gpu-memory.request": "3840Mi",
        "nvidia.com/container.main.gpu-compute.portion": "0.25",
      }),
      null,
    ),
  ],
  ["HAMi, memory", hami("3840,0")],
  ["HAMi, cores", hami("1024,25")],
  [
    "MPS, replicas under the usual name",
    replicas("nvidia.com/gpu", { "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "mps" }),
  ],
  [
    "MPS, replicas under their own name",
    replicas("nvidia.com/gpu.shared", { "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "mps" }),
  ],
  [
    "time-slicing, product -SHARED",
    replicas("nvidia.com/gpu", { "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.product": "Tesla-T4-SHARED" }),
  ],
  ["DRA, consumable memory", consumable("gpu.nvidia.com", "gpu", { memory: 16 * gibibyte }, { memory: 4 * gibibyte })],
  [
    "DRA, consumable memory under the driver's full name",
    consumable("gpu.nvidia.com", "gpu", { memory: 16 * gibibyte }, { "gpu.nvidia.com/memory": 4 * gibibyte }),
  ],
  [
    "DRA of HAMi, cores and less memory",
    consumable(
      "hami-core-gpu.project-hami.io",
      "hami-gpu",
      { cores: 100, memory: 15_360 * 2 ** 20 },
      { cores: 25, memory: 1024 * 2 ** 20 },
    ),
  ],
  ["DRA, partitions of an A30", partitions("NVIDIA A30", "1g.6gb")],
  ["DRA, partitions of an H100", partitions("NVIDIA H100 80GB HBM3", "1g.20gb")],
];

describe.each(mechanisms)("a quarter of a GPU: %s", (name, make) => {
  it("four are one GPU-hour to the last digit", () => {
    const snapshot = snapshotOf(make(4));
    expect(codes(snapshot).filter((code) => /allocated|unknown|unconfirmed/.test(code))).toEqual([]);
    expect(hourOf(snapshot)).toEqual({ pods: { p0: 900, p1: 900, p2: 900, p3: 900 }, free: 0 });
    for (const pod of ["p0", "p1", "p2", "p3"]) expect(podOf(snapshot, pod).gpus).toBe(0.25);
  });

  it("three are three quarters, and one is free", () => {
    expect(hourOf(snapshotOf(make(3)))).toEqual({ pods: { p0: 900, p1: 900, p2: 900 }, free: 900 });
  });

  it.skipIf(name.includes("partitions"))("five are no more than the GPU, which is reported", () => {
    const snapshot = snapshotOf(make(5));
    const { pods, free } = hourOf(snapshot);
    expect(sum(Object.values(pods))).toBeCloseTo(3600, 6);
    expect(free).toBeCloseTo(0, 6);
    expect(codes(snapshot).filter((code) => /allocated/.test(code))).toHaveLength(1);
  });
});

describe("shares that are not a round part of a GPU", () => {
  it("make up exactly one GPU together, whatever their number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 8 }), fc.boolean(), (count, isReplicas) => {
        const labels = { ...gfdLabels(1, "Tesla-T4"), "nvidia.com/gpu.replicas": String(count) };
        const shared = {
          nodes: [node("n", { capacity: { "nvidia.com/gpu": count }, labels })],
          pods: names.slice(0, count).map((name) => gpuPod(name, "n", 1)),
          telemetry,
        };
        const state = isReplicas ? shared : kai(() => ({ "gpu-memory": String(15_360 / count) }))(count);
        const { pods, free } = hourOf(snapshotOf(state));
        expect(Math.abs(sum(Object.values(pods)) + free - 3600)).toBeLessThan(3600e-9);
        expect(Math.abs(free)).toBeLessThan(3600e-6);
      }),
      { numRuns: 30, seed: 20_261_128 },
    );
  });
});

describe("a fraction of which nothing says how much it is", () => {
  const request = (memory: string) => ({ "nvidia.com/container.main.gpu-memory.request": memory });

  it.each([
    ["on a GPU whose memory is not known", kai(() => request("3840Mi"), null)],
    ["that is larger than the GPU", kai(() => request("100Gi"))],
  ])("%s is unknown, not 0: it shares what is left, estimated", (_case, make) => {
    const snapshot = snapshotOf(make(2));
    expect([podOf(snapshot, "p0").gpus, podOf(snapshot, "p1").gpus]).toEqual([null, null]);
    expect(holdingsOf(snapshot, "p0")).toMatchObject([{ share: 0.5, estimated: true }]);
    expect(codes(snapshot)).toContain("fraction-size-unknown");
    expect(codes(snapshot)).not.toContain("allocated-twice");
    expect(hourOf(snapshot)).toEqual({ pods: { p0: 1800, p1: 1800 }, free: 0 });
  });

  it("leaves known shares on the same GPU as they are", () => {
    const make = kai((name) => (name === "p0" ? { "gpu-fraction": "0.25" } : request("100Gi")));
    expect(hourOf(snapshotOf(make(3))).pods).toEqual({ p0: 900, p1: 1350, p2: 1350 });
  });

  it("with nonsense for a quantity is no fraction", () => {
    const snapshot = snapshotOf(kai(() => request("much"))(1));
    expect(Object.keys(hourOf(snapshot).pods)).not.toContain("p0");
  });
});

describe("the GPU that KAI's binder has written into a fraction", () => {
  const other = "GPU-1e1e1e1e-0000";
  const annotations = {
    "gpu-fraction": "0.25",
    "nvidia.com/container.main.gpus.devices": `k8s.device-plugin.nvidia.com/gpu=${other}`,
  };
  const two = { nodes: [node("n", { capacity: { "nvidia.com/gpu": 2 }, labels: gfdLabels(2, "Tesla-T4") })] };
  const pages = [page("n", [reading(uuid, 0.5), reading(other, 0.25)])];
  const fraction = pod("p0", "n", { schedulerName: "kai-scheduler", labels: { "runai-gpu-group": "g" }, annotations });

  it("is used where reservations cannot be read, estimated", () => {
    const snapshot = snapshotOf({ ...two, pods: [fraction], telemetry: pages, podNamespaces: new Set(["research"]) });
    expect(holdingsOf(snapshot, "p0")).toMatchObject([{ on: other, share: 0.25, estimated: true, activity: 1 }]);
  });

  it("does not move a fraction off the GPU of its reservation", () => {
    const reserved = kai(() => annotations)(1);
    const snapshot = snapshotOf({ ...reserved, ...two, telemetry: pages });
    expect(holdingsOf(snapshot, "p0")).toMatchObject([{ on: uuid, share: 0.25, estimated: false }]);
  });
});
