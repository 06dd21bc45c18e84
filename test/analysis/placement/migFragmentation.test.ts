import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findFreeCapacities } from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import { migFragmentation } from "../../../exporter/analysis/placement/migFragmentation.ts";
import type { Device, NodeView, Snapshot } from "../../../exporter/join/snapshot.ts";
import { device, holding, moment, nodeView } from "../momentBuilder.ts";
import { onlyPool } from "./placementBuilder.ts";

interface Instance {
  readonly profile: string;
  /** `null`: nothing says where it lies. */
  readonly slots: readonly number[] | null;
  readonly isAllocated: boolean;
}

const allocated = (profile: string, ...slots: number[]): Instance => ({ profile, slots, isAllocated: true });
const unallocated = (profile: string, ...slots: number[]): Instance => ({ profile, slots, isAllocated: false });

/** A node of these GPUs, each of these instances. */
function partitionedGpus(
  physicalGpus: readonly (readonly Instance[])[],
  parts: { readonly physicalGpu?: Partial<Device>; readonly node?: Partial<NodeView> } = {},
): Snapshot {
  const model = "A100-SXM4-80GB";
  const devices = physicalGpus.flatMap((instances, physicalGpu) =>
    instances.map(({ profile, slots, isAllocated }, i) =>
      device({
        uuid: `GPU-${physicalGpu}`,
        gpuInstance: String(i),
        profile,
        migSlots: slots,
        model,
        pool: model,
        weight: 1 / 7,
        holders: isAllocated ? [holding({ share: 1 / 7 })] : [],
        ...parts.physicalGpu,
      }),
    ),
  );
  const indexes = devices.map((_, index) => index);
  const node = nodeView({ physicalGpus: physicalGpus.length, pools: [model], devices: indexes, ...parts.node });
  return moment({ nodes: [node], devices });
}

/** `physicalGpus` and `ratio` by profile, of all pools together. */
function measured(snapshot: Snapshot): Record<string, readonly [physicalGpus: number, ratio: number]> {
  const all = [...migFragmentation(snapshot, findFreeCapacities(snapshot)).values()].flat();
  return Object.fromEntries(all.map(({ profile, physicalGpus, ratio }) => [profile, [physicalGpus, ratio]]));
}

const scattered = [allocated("1g.10gb", 1), allocated("1g.10gb", 5)];

describe("MIG fragmentation", () => {
  it("of 1g.10gb at slots 1 and 5: six slices are free, and no place for 3g.40gb", () => {
    expect(measured(partitionedGpus([scattered]))).toEqual({
      "1g.10gb": [1, 0],
      "1g.20gb": [1, 0],
      "2g.20gb": [1, 0],
      "3g.40gb": [1, 1],
      "4g.40gb": [1, 1],
    });
  });

  it("is the part of the GPUs with enough free slices", () => {
    const packed = [allocated("1g.10gb", 0), allocated("1g.10gb", 1)];
    const full = [allocated("3g.40gb", 0, 1, 2, 3), allocated("3g.40gb", 4, 5, 6, 7)];
    const found = measured(partitionedGpus([scattered, packed, full, []]));
    expect(found["3g.40gb"]).toEqual([2, 0.5]);
    expect(found["4g.40gb"]).toEqual([2, 1]);
    expect(found["7g.80gb"]).toBeUndefined();
  });

  it("is published with the other measures of the pool, and is empty for whole GPUs", () => {
    expect(onlyPool(partitionedGpus([scattered])).migFragmentation).toContainEqual({
      profile: "3g.40gb",
      physicalGpus: 1,
      ratio: 1,
    });
    const whole = moment({ nodes: [nodeView({ devices: [0] })], devices: [device()] });
    expect(onlyPool(whole).migFragmentation).toEqual([]);
  });

  it("counts slices of instances that nobody holds as free: they can be destroyed", () => {
    const found = measured(partitionedGpus([[unallocated("1g.10gb", 1), allocated("1g.10gb", 5)]]));
    expect(found["3g.40gb"]).toEqual([1, 0]);
    expect(measured(partitionedGpus([[unallocated("1g.10gb", 1)]]))["7g.80gb"]).toEqual([1, 0]);
  });

  it("is not reported for a GPU about which something is not known", () => {
    const unknown = { profile: "1g.10gb", slots: null, isAllocated: false };
    expect(measured(partitionedGpus([[...scattered, unknown]]))).toEqual({});
    expect(measured(partitionedGpus([scattered, [unknown]]))["3g.40gb"]).toEqual([1, 1]);
  });

  it.each([
    ["overlaps", [allocated("2g.20gb", 0, 1), allocated("1g.10gb", 1)]],
    ["has a hole", [allocated("2g.20gb", 0, 2)]],
    ["lies where it may not", [allocated("3g.40gb", 1, 2, 3, 4)]],
    ["lies beside the GPU", [allocated("1g.10gb", 9)]],
    ["has no profile", [allocated("whole", 0)]],
  ])("is not said of a GPU where an instance %s", (_, instances) => {
    expect(measured(partitionedGpus([instances]))).toEqual({});
  });

  it("counts a GPU instance once, however many compute instances share it", () => {
    const parts = [allocated("1c.3g.40gb", 4, 5, 6, 7), allocated("2c.3g.40gb", 4, 5, 6, 7)];
    expect(measured(partitionedGpus([parts]))["4g.40gb"]).toEqual([1, 0]);
  });

  it("knows profiles with media extensions", () => {
    expect(measured(partitionedGpus([[allocated("1g.10gb+me", 3)]]))["4g.40gb"]).toEqual([1, 1]);
  });

  it.each([
    ["seven small instances leave a memory slice", Array.from({ length: 7 }, (_, i) => allocated("1g.10gb", i)), {}],
    [
      "three double ones leave two",
      [allocated("2g.20gb", 0, 1), allocated("2g.20gb", 2, 3), allocated("2g.20gb", 4, 5)],
      { "1g.10gb": [1, 0], "1g.20gb": [1, 0] },
    ],
  ])("does not miss what lacks compute slices: %s", (_, instances, expected) => {
    expect(measured(partitionedGpus([instances]))).toEqual(expected);
  });

  it.each([
    ["a node that is not ready", { node: { ready: false } }],
    ["a cordoned node", { node: { schedulable: false } }],
    ["an unhealthy GPU", { physicalGpu: { unhealthy: true } }],
    ["a GPU of an unknown kind", { physicalGpu: { model: "RTX-PRO-6000-Blackwell" } }],
  ])("leaves out %s", (_, parts) => {
    expect(measured(partitionedGpus([scattered], parts))).toEqual({});
  });

  it.each([
    ["A100-SXM4-40GB", "1g.5gb", ["1g.10gb", "1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb"]],
    ["H200", "1g.18gb", ["1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb"]],
    ["H20", "1g.12gb", ["1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb"]],
    ["GH200-480GB", "1g.12gb", ["1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb"]],
    ["B200", "1g.23gb", ["1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb"]],
    ["H100-NVL", "1g.12gb", ["1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb"]],
  ])("names the profiles of %s", (model, profile, expected) => {
    const snapshot = partitionedGpus([[allocated(profile, 1), allocated(profile, 5)]], { physicalGpu: { model } });
    expect(Object.keys(measured(snapshot)).sort()).toEqual(expected);
  });

  it("of a model whose memory is not known is reported for the profiles that its instances show", () => {
    const physicalGpus = [[allocated("1g.34gb", 1), allocated("1g.34gb", 5)], [allocated("3g.135gb", 0, 1, 2, 3)]];
    expect(measured(partitionedGpus(physicalGpus, { physicalGpu: { model: "B300" } }))).toEqual({
      "1g.34gb": [2, 0],
      "3g.135gb": [2, 0.5],
    });
  });

  it("of A30 has four slices", () => {
    const snapshot = partitionedGpus([[allocated("1g.6gb", 1), allocated("1g.6gb", 2)]], {
      physicalGpu: { model: "A30" },
    });
    expect(measured(snapshot)).toEqual({ "1g.6gb": [1, 0], "2g.12gb": [1, 1] });
  });
});

/** Every place of every profile as `nvidia-smi mig -lgipp` shows it, one letter for each memory slice. */
const places: readonly (readonly [profile: string, compute: number, slices: string])[] = [
  ...Array.from({ length: 7 }, (_, i) => ["1g.10gb", 1, `${".".repeat(i)}x${".".repeat(7 - i)}`] as const),
  ...["xx......", "..xx....", "....xx..", "......xx"].map((slices) => ["1g.20gb", 1, slices] as const),
  ...["xx......", "..xx....", "....xx.."].map((slices) => ["2g.20gb", 2, slices] as const),
  ...["xxxx....", "....xxxx"].map((slices) => ["3g.40gb", 3, slices] as const),
  ["4g.40gb", 4, "xxxx...."],
  ["7g.80gb", 7, "xxxxxxxx"],
];

const slotsIn = (slices: string): number[] => [...slices].flatMap((mark, i) => (mark === "x" ? [i] : []));

/** Puts instances onto a GPU in the order that is asked, each where its place is still free. */
function layOut(order: readonly (readonly [place: number, isAllocated: boolean])[]): readonly Instance[] {
  const instances: Instance[] = [];
  const used = new Set<number>();
  let compute = 0;
  for (const [index, isAllocated] of order) {
    const [profile, slices, text] = places[index] ?? ["", 0, ""];
    const slots = slotsIn(text);
    if (compute + slices > 7 || slots.some((slot) => used.has(slot))) continue;
    for (const slot of slots) used.add(slot);
    compute += slices;
    instances.push({ profile, slots, isAllocated });
  }
  return instances;
}

/** The same by trying every place on every GPU. */
function naive(physicalGpus: readonly (readonly Instance[])[]): Record<string, readonly [number, number]> {
  const found: Record<string, [physicalGpus: number, ratio: number]> = {};
  for (const profile of new Set(places.map(([name]) => name))) {
    const own = places.filter(([name]) => name === profile);
    const [, compute = 0, slices = ""] = own[0] ?? [];
    let [enough, fragmented] = [0, 0];
    for (const physicalGpu of physicalGpus) {
      if (physicalGpu.length === 0) continue;
      const taken = physicalGpu.filter(({ isAllocated }) => isAllocated);
      const slots = new Set(taken.flatMap((instance) => instance.slots ?? []));
      const freeCompute = 7 - taken.reduce((sum, instance) => sum + Number(instance.profile[0]), 0);
      if (8 - slots.size < slotsIn(slices).length || freeCompute < compute) continue;
      enough += 1;
      if (own.every(([, , place]) => slotsIn(place).some((slot) => slots.has(slot)))) fragmented += 1;
    }
    if (enough > 0) found[profile] = [enough, fragmented / enough];
  }
  return found;
}

const order = fc.array(fc.tuple(fc.nat({ max: places.length - 1 }), fc.boolean()), { maxLength: 12 });

describe("MIG fragmentation of any GPUs", () => {
  it("is what trying every place says", () => {
    const physicalGpus = fc.array(order.map(layOut), { maxLength: 5 });
    fc.assert(
      fc.property(physicalGpus, (layouts) => {
        expect(measured(partitionedGpus(layouts))).toEqual(naive(layouts));
      }),
      { seed: 20_261_121, numRuns: 400 },
    );
  });
});
