import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClusterState, ResourceClaim, ResourceSlice } from "../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../exporter/model/node.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import {
  allocated,
  claim,
  claimingPod,
  gfdLabels,
  gpuPod,
  node,
  now,
  slice,
  sliceGpu,
  sliceMig,
} from "./clusterBuilder.ts";
import { analysed, defaultSettings, joined, nodeOf } from "./outcomes.ts";

const runs = { numRuns: 200, seed: 20_261_122 };

/** A node and what is on it, with the generator's own count of its GPUs and of what its pods hold. */
interface Part {
  readonly object: ClusterNode;
  readonly slices?: readonly ResourceSlice[];
  readonly claims?: readonly ResourceClaim[];
  readonly pods?: readonly Pod[];
  readonly physicalGpus: number;
  readonly allocated: number;
}

interface Choice {
  readonly name: string;
  readonly physicalGpus: number;
  readonly replicas: number;
  readonly pods: number;
}

const instanceTypes: Readonly<Record<number, string>> = { 1: "g4dn.xlarge", 4: "g5.12xlarge", 8: "p5.48xlarge" };
const at = (address: string) => ({ "resource.kubernetes.io/pciBusID": address });

const requesting = ({ name, pods }: Choice, most: number, resource?: string): readonly Pod[] =>
  Array.from({ length: Math.min(pods, most) }, (_, i) => gpuPod(`${name}-p${i}`, name, 1, {}, resource));

const whole = (physicalGpu: number) => {
  const device = sliceGpu(`gpu-${physicalGpu}`, `GPU-${physicalGpu}`);
  return { ...device, attributes: { ...device.attributes, ...at(`0000:${physicalGpu}:00.0`) } };
};

const kinds: Readonly<Record<string, (choice: Choice) => Part>> = {
  labelled: (c) => {
    const pods = requesting(c, c.physicalGpus);
    const object = node(c.name, { capacity: { "nvidia.com/gpu": c.physicalGpus }, labels: gfdLabels(c.physicalGpus) });
    return { object, pods, physicalGpus: c.physicalGpus, allocated: pods.length };
  },
  bare: (c) => {
    const pods = requesting(c, c.physicalGpus);
    return {
      object: node(c.name, { capacity: { "nvidia.com/gpu": c.physicalGpus } }),
      pods,
      physicalGpus: c.physicalGpus,
      allocated: pods.length,
    };
  },
  "beside network cards": (c) => {
    const pods = requesting(c, 8, "nvidia.com/resibp24s0");
    const capacity = { "nvidia.com/gpu": c.physicalGpus, "nvidia.com/resibp24s0": 8, "rdma/hca": 63 };
    return { object: node(c.name, { capacity }), pods, physicalGpus: c.physicalGpus, allocated: 0 };
  },
  "shared by label": (c) => {
    const labels = { ...gfdLabels(c.physicalGpus), "nvidia.com/gpu.replicas": String(c.replicas) };
    const pods = requesting(c, c.physicalGpus * c.replicas);
    const object = node(c.name, { capacity: { "nvidia.com/gpu": c.physicalGpus * c.replicas }, labels });
    return { object, pods, physicalGpus: c.physicalGpus, allocated: pods.length / c.replicas };
  },
  "shared, and only the instance type says so": (c) => {
    const physicalGpus = c.physicalGpus > 4 ? 8 : c.physicalGpus > 1 ? 4 : 1;
    const pods = requesting(c, physicalGpus * c.replicas);
    const labels = { "node.kubernetes.io/instance-type": instanceTypes[physicalGpus] ?? "" };
    const object = node(c.name, { capacity: { "nvidia.com/gpu": physicalGpus * c.replicas }, labels });
    return { object, pods, physicalGpus, allocated: pods.length / c.replicas };
  },
  "vGPU types of a KubeVirt node": (c) => {
    const resource = "nvidia.com/NVIDIA_A10-12Q";
    const pods = requesting(c, 2 * c.physicalGpus, resource);
    return {
      object: node(c.name, { capacity: { [resource]: 2 * c.physicalGpus } }),
      pods,
      physicalGpus: c.physicalGpus,
      allocated: pods.length / 2,
    };
  },
  "DRA with siblings for passthrough": (c) => {
    const siblings = Array.from({ length: c.physicalGpus }, (_, physicalGpu) => ({
      ...whole(physicalGpu),
      name: `gpu-vfio-${physicalGpu}`,
      attributes: { type: "vfio", ...at(`0000:${physicalGpu}:00.0`) },
    }));
    const devices = Array.from({ length: c.physicalGpus }, (_, physicalGpu) => whole(physicalGpu));
    return {
      object: node(c.name),
      slices: [slice(c.name, [...devices, ...siblings])],
      physicalGpus: c.physicalGpus,
      allocated: 0,
    };
  },
  "DRA with shares": (c) => {
    const devices = Array.from({ length: c.physicalGpus }, (_, physicalGpu) => whole(physicalGpu));
    const claims = Array.from({ length: c.pods }, (_, i) =>
      claim(`${c.name}-c${i}`, [allocated(c.name, "gpu-0", { shareId: String(i) })], [`${c.name}-p${i}`]),
    );
    const pods = claims.map((_, i) => claimingPod(`${c.name}-p${i}`, c.name, `${c.name}-c${i}`));
    return {
      object: node(c.name),
      slices: [slice(c.name, devices)],
      claims,
      pods,
      physicalGpus: c.physicalGpus,
      allocated: pods.length > 0 ? 1 : 0,
    };
  },
  "DRA with partitions, some of them given out": (c) => {
    const devices = Array.from({ length: c.physicalGpus }, (_, physicalGpu) => whole(physicalGpu));
    const given = Math.min(c.pods, 4);
    // Entries without a UUID are what the GPU may be cut into; seven of them are one GPU all the same.
    const possible = Array.from({ length: 7 }, (_, i) => sliceMig(`gpu-0-mig-1g10gb-19-${i}`, "GPU-0", "1g.10gb"));
    const claims = Array.from({ length: given }, (_, i) =>
      claim(`${c.name}-c${i}`, [allocated(c.name, `gpu-0-mig-1g10gb-19-${i}`)], [`${c.name}-p${i}`]),
    );
    const pods = claims.map((_, i) => claimingPod(`${c.name}-p${i}`, c.name, `${c.name}-c${i}`));
    const slices = [slice(c.name, [...devices, ...possible])];
    return { object: node(c.name), slices, claims, pods, physicalGpus: c.physicalGpus, allocated: given / 7 };
  },
  "a driver that has moved to DRA": (c) => {
    const capacity = { "nvidia.com/gpu": c.physicalGpus };
    const object = node(c.name, { capacity, allocatable: { "nvidia.com/gpu": 0 } });
    const devices = Array.from({ length: c.physicalGpus }, (_, physicalGpu) => whole(physicalGpu));
    return { object, slices: [slice(c.name, devices)], physicalGpus: c.physicalGpus, allocated: 0 };
  },
  "a driver that is not there": (c) => ({
    object: node(c.name, { labels: gfdLabels(c.physicalGpus), capacity: { "nvidia.com/gpu": 0 } }),
    physicalGpus: c.physicalGpus,
    allocated: 0,
  }),
  AMD: (c) => {
    const pods = requesting(c, c.physicalGpus, "amd.com/gpu");
    return {
      object: node(c.name, { capacity: { "amd.com/gpu": c.physicalGpus } }),
      pods,
      physicalGpus: c.physicalGpus,
      allocated: pods.length,
    };
  },
  "no GPU": (c) => ({ object: node(c.name), physicalGpus: 0, allocated: 0 }),
};

const anyFleet = fc.array(
  fc.record({
    kind: fc.constantFrom(...Object.keys(kinds)),
    physicalGpus: fc.integer({ min: 1, max: 8 }),
    replicas: fc.integer({ min: 2, max: 10 }),
    pods: fc.nat(6),
  }),
  { minLength: 1, maxLength: 8 },
);

type Fleet = typeof anyFleet extends fc.Arbitrary<infer T> ? T : never;

const partsOf = (fleet: Fleet): readonly Part[] =>
  fleet.flatMap(({ kind, ...choice }, i) => kinds[kind]?.({ ...choice, name: `n${i}` }) ?? []);

const stateOf = (parts: readonly Part[]): Partial<ClusterState> => ({
  nodes: parts.map(({ object }) => object),
  pods: parts.flatMap(({ pods = [] }) => pods),
  resourceSlices: parts.flatMap(({ slices = [] }) => slices),
  resourceClaims: parts.flatMap(({ claims = [] }) => claims),
});

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

describe("a generated fleet", () => {
  it("has the generator's GPUs on each node, all of them in one state, and its pods hold what the generator gave them", () => {
    fc.assert(
      fc.property(anyFleet, (fleet) => {
        const parts = partsOf(fleet);
        const { snapshot } = joined(stateOf(parts));
        const { accountingEntries } = analysed(snapshot);
        for (const { object, physicalGpus, allocated } of parts) {
          const own = accountingEntries.list.filter((accountingEntry) => accountingEntry.node === object.name);
          expect(sum(own.map(({ gpus }) => gpus))).toBeCloseTo(physicalGpus, 9);
          expect(sum(own.filter(({ pod }) => pod !== null).map(({ gpus }) => gpus))).toBeCloseTo(allocated, 9);
          if (physicalGpus > 0) expect(nodeOf(snapshot, object.name).physicalGpus).toBe(physicalGpus);
          else expect(snapshot.nodes.filter(({ name }) => name === object.name)).toEqual([]);
        }
        const pools = new Map(snapshot.nodes.map(({ name, pools: own }) => [name, own.join()] as const));
        const amd = new Set(fleet.flatMap(({ kind }, i) => (kind === "AMD" ? [pools.get(`n${i}`)] : [])));
        for (const [i, { kind }] of fleet.entries())
          if (kind !== "AMD") expect(amd.has(pools.get(`n${i}`) ?? "?")).toBe(false);
      }),
      runs,
    );
  });

  it("keeps its GPUs while drivers go and come back, in a state that says so", () => {
    fc.assert(
      fc.property(anyFleet, (fleet) => {
        const parts = partsOf(fleet);
        const first = joined(stateOf(parts), defaultSettings, undefined, now - 60);
        const gone = parts.map(({ object }) => ({
          ...object,
          capacity: Object.fromEntries(Object.keys(object.capacity).map((name) => [name, 0])),
          allocatable: {},
        }));
        const without = joined({ nodes: gone }, defaultSettings, first.memory, now - 30);
        const { accountingEntries } = analysed(without.snapshot);
        const back = joined(stateOf(parts), defaultSettings, without.memory, now);
        for (const { object, physicalGpus } of parts) {
          if (physicalGpus === 0) continue;
          const own = accountingEntries.list.filter((accountingEntry) => accountingEntry.node === object.name);
          expect(sum(own.map(({ gpus }) => gpus))).toBeCloseTo(physicalGpus, 9);
          expect(own.map(({ state }) => state)).not.toContain("free");
          expect(nodeOf(back.snapshot, object.name).physicalGpus).toBe(physicalGpus);
        }
      }),
      runs,
    );
  });
});
