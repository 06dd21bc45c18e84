import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findFreeCapacities } from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import { measurePlacement } from "../../../exporter/analysis/placement/measurePlacement.ts";
import { findLevels } from "../../../exporter/analysis/topology/levels.ts";
import { type GangPod, podsOnNode } from "../../../exporter/analysis/topology/nodeCapacity.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { placementMoment, targetShape } from "../placement/placementBuilder.ts";
import { blocksAndRacks, levelOf, measured, rackLabel, slotsOf } from "./racks.ts";

/** A server as Alibaba's trace of GPU clusters (gpu-v2026) describes it. */
interface Server {
  /** The switch that it is connected to (`asw_id`). */
  readonly asw: string;
  /** What is allocated of each of its 8 GPUs. */
  readonly allocated: readonly number[];
  readonly idleCores: number;
}

const gpusOfServer = 8;
const requested = ({ allocated }: Server): number => allocated.reduce((sum, one) => sum + one, 0);

const momentOf = (servers: readonly Server[]): Snapshot =>
  placementMoment(
    servers.map(({ asw, allocated, idleCores }) => ({
      allocated,
      freeCores: idleCores,
      labels: { "example.com/block": "cluster", [rackLabel]: asw },
    })),
  );

/** `asw_available_slots`: jobs of `gpuSetSize` GPUs that fit below one switch, 12 cores for each GPU (its data builder). */
function aswAvailableSlots(servers: readonly Server[], gpuSetSize: number): number {
  const bySwitch = new Map<string, number>();
  for (const server of servers) {
    const free = Math.max(gpusOfServer - Math.floor(requested(server)), 0);
    const slots = Math.min(free, Math.max(Math.floor(server.idleCores / 12), 0));
    bySwitch.set(server.asw, (bySwitch.get(server.asw) ?? 0) + slots);
  }
  return [...bySwitch.values()].reduce((sum, slots) => sum + Math.floor(slots / gpuSetSize), 0);
}

/** `idle_gpu_fragmentation`: the idle GPUs of a server that jobs of one shape cannot use, all its reasons together. */
function idleGpuFragmentation(server: Server, gpus: number, cores: number): number {
  const idle = Math.max(gpusOfServer - requested(server), 0);
  const whole = Math.floor(idle + 1e-9);
  if (server.idleCores >= cores) return whole >= gpus ? idle - whole : whole;
  return Math.min(idle, gpus);
}

/** Our count with pods of one kind: gangs of so many such pods within one domain. */
function slotsOfPods(servers: readonly Server[], pod: GangPod, pods: number): number {
  const snapshot = momentOf(servers);
  const level = findLevels(snapshot.nodes, blocksAndRacks, snapshot.queueObjects)[1];
  const byDomain = new Map<number, number>();
  for (const [index, [freeCapacity]] of findFreeCapacities(snapshot).byNode.entries()) {
    if (freeCapacity === undefined) continue;
    const domain = level?.domainOfNode[index] ?? -1;
    byDomain.set(domain, (byDomain.get(domain) ?? 0) + podsOnNode(freeCapacity, pod).now);
  }
  return [...byDomain.values()].reduce((sum, one) => sum + Math.floor(one / pods), 0);
}

const unusableOn = (server: Server, pod: GangPod): number => {
  const [capacity] = findFreeCapacities(momentOf([server])).byNode[0] ?? [];
  return capacity === undefined ? 0 : podsOnNode(capacity, pod).unusableGpus;
};

const wholeShares = fc.array(fc.constantFrom(0, 0, 1), { minLength: gpusOfServer, maxLength: gpusOfServer });
const anyShares = fc
  .tuple(wholeShares, fc.constantFrom(0, 0.25, 0.5))
  .map(([shares, part]) => (part === 0 ? shares : [part, ...shares.slice(1)]));
const serversWith = (shares: fc.Arbitrary<number[]>) =>
  fc.array(
    fc.record({
      asw: fc.constantFrom("s1", "s2", "s3"),
      allocated: shares,
      idleCores: fc.constantFrom(0, 12, 30, 48, 96, 128),
    }),
    { minLength: 1, maxLength: 40 },
  );
const onePod: GangPod = { gpus: 1, cpuMilli: 12_000, memoryBytes: 0 };

describe("Alibaba's slots below a switch", () => {
  it("are ours for gangs of single-GPU pods with 12 cores, where GPUs are allocated as a whole", () => {
    fc.assert(
      fc.property(serversWith(wholeShares), fc.constantFrom(8, 16, 64, 128), (servers, size) => {
        expect(slotsOfPods(servers, onePod, size)).toBe(aswAvailableSlots(servers, size));
      }),
    );
  });

  it("are at least ours where GPUs are shared, because a shared GPU counts there as free", () => {
    fc.assert(
      fc.property(serversWith(anyShares), fc.constantFrom(8, 16, 64), (servers, size) => {
        expect(slotsOfPods(servers, onePod, size)).toBeLessThanOrEqual(aswAvailableSlots(servers, size));
      }),
    );
    const shared = { asw: "s1", allocated: [0.5, 0, 0, 0, 0, 0, 0, 0], idleCores: 96 };
    expect([slotsOfPods([shared], onePod, 8), aswAvailableSlots([shared], 8)]).toEqual([0, 1]);
  });

  it("are more than those of gangs whose pods ask for whole nodes, which is what is published", () => {
    const scattered = Array.from({ length: 4 }, () => ({
      asw: "s1",
      allocated: [1, 1, 0, 0, 0, 0, 0, 0],
      idleCores: 128,
    }));
    expect(aswAvailableSlots(scattered, 16)).toBe(1);
    expect(slotsOf(levelOf(measured(momentOf(scattered)), "rack"))).toEqual([0, 0, 0, 0, 0, 0]);
    fc.assert(
      fc.property(serversWith(anyShares), (servers) => {
        const [of8 = 0, of16 = 0] = slotsOf(levelOf(measured(momentOf(servers)), "rack"));
        const enoughCores = servers.map((server) => ({ ...server, idleCores: 1000 }));
        expect(of8).toBeLessThanOrEqual(aswAvailableSlots(enoughCores, 8));
        expect(of16).toBeLessThanOrEqual(aswAvailableSlots(enoughCores, 16));
      }),
    );
  });
});

describe("Alibaba's idle fragmentation of a server", () => {
  const server = serversWith(anyShares).map(([first]) => first ?? { asw: "s1", allocated: [], idleCores: 0 });
  const jobs = fc.constantFrom<readonly [number, number]>([1, 8], [4, 32], [8, 64], [8, 96]);

  it("is ours where CPU suffices, but for the free part of a shared GPU, and at most ours in every case", () => {
    fc.assert(
      fc.property(server, jobs, (one, [gpus, cores]) => {
        const theirs = idleGpuFragmentation(one, gpus, cores);
        const ours = unusableOn(one, { gpus, cpuMilli: cores * 1000, memoryBytes: 0 });
        expect(ours).toBeGreaterThanOrEqual(theirs - 1e-9);
        const isWhole = one.allocated.every((share) => share === 0 || share === 1);
        if (one.idleCores >= cores && isWhole) expect(ours).toBeCloseTo(theirs, 9);
      }),
    );
  });

  it("counts one job where CPU is short, and we count all that is free, as Weng et al. do", () => {
    const idle = { asw: "s1", allocated: new Array<number>(8).fill(0), idleCores: 0 };
    expect(idleGpuFragmentation(idle, 4, 32)).toBe(4);
    expect(unusableOn(idle, { gpus: 4, cpuMilli: 32_000, memoryBytes: 0 })).toBe(8);
  });
});

describe("a level of single nodes", () => {
  it("has the expected fragmentation, and the slots, that placement has for pods of a whole node", () => {
    fc.assert(
      fc.property(serversWith(anyShares), (servers) => {
        const snapshot = momentOf(servers.map((server, i) => ({ ...server, asw: `node-${i}` })));
        const settings = { targetWorkload: [targetShape({ gpus: gpusOfServer })], ended: null };
        const [placed] = measurePlacement(snapshot, settings).pools;
        const level = levelOf(measured(snapshot), "rack");
        expect(level.unusableGpus).toBeCloseTo(placed?.expected.gpus ?? Number.NaN, 9);
        expect(level.gangs[0]?.slots).toBe(placed?.placeablePods[8]);
        expect(level.freeDomains).toBe(placed?.wholeFreeNodes);
      }),
    );
  });
});
