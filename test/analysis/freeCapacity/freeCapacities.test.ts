import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { domainFreeCapacities } from "../../../exporter/analysis/freeCapacity/domainFreeCapacities.ts";
import {
  createFreeCapacitiesCache,
  findFreeCapacities,
  type PoolFreeCapacity,
} from "../../../exporter/analysis/freeCapacity/freeCapacities.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

const freeCapacitiesOf = (snapshot: Snapshot, cache = createFreeCapacitiesCache()) =>
  findFreeCapacities(snapshot, cache).byNode;

/** Two H100 and one A100, which nobody holds. */
const mixed = moment({
  nodes: [nodeView({ pools: ["A100", "H100"], devices: [0, 1, 2], physicalGpus: 3 })],
  devices: [device(), device({ uuid: "GPU-1" }), device({ uuid: "GPU-2", pool: "A100" })],
});

const shown = ({ pool, now, unavailableGpus, wholeGpus, hasOnlyWholeGpus, isWhollyFree }: PoolFreeCapacity) => ({
  pool,
  gpus: now?.gpus ?? null,
  physicalGpus: now?.physicalGpus ?? [],
  unavailableGpus,
  wholeGpus,
  hasOnlyWholeGpus,
  isWhollyFree,
});

describe("the free capacities of a node", () => {
  it("are one for each of its pools, with what is free there", () => {
    expect(
      freeCapacitiesOf(mixed).map((freeCapacities) => freeCapacities.map(({ pool, now }) => [pool, now?.physicalGpus])),
    ).toEqual([
      [
        ["A100", [1]],
        ["H100", [1, 1]],
      ],
    ]);
  });

  it("keep what nobody holds apart from what nobody can take", () => {
    const half = holding({ share: 0.5 });
    const snapshot = moment({
      nodes: [
        nodeView({ name: "sound", devices: [0, 1] }),
        nodeView({ name: "sick", devices: [2, 3] }),
        nodeView({ name: "gone", devices: [4, 5], ready: false }),
      ],
      devices: [
        device({ holders: [half] }),
        device({ uuid: "GPU-1" }),
        device({ unhealthy: true, holders: [half] }),
        device({ uuid: "GPU-3" }),
        device({ holders: [half] }),
        device({ uuid: "GPU-5", orphanReservation: true }),
      ],
    });
    expect(freeCapacitiesOf(snapshot).flat().map(shown)).toEqual([
      {
        pool: "H100",
        gpus: 1.5,
        physicalGpus: [0.5, 1],
        unavailableGpus: 0,
        wholeGpus: 2,
        hasOnlyWholeGpus: true,
        isWhollyFree: false,
      },
      {
        pool: "H100",
        gpus: 1,
        physicalGpus: [1],
        unavailableGpus: 0.5,
        wholeGpus: 1,
        hasOnlyWholeGpus: false,
        isWhollyFree: false,
      },
      {
        pool: "H100",
        gpus: null,
        physicalGpus: [],
        unavailableGpus: 1.5,
        wholeGpus: 0,
        hasOnlyWholeGpus: false,
        isWhollyFree: false,
      },
    ]);
  });

  it("have free slots with their GPUs", () => {
    const snapshot = moment({
      nodes: [nodeView({ devices: [0, 1] })],
      devices: [
        device({ slots: 4, holders: [holding({ share: 0.25 })] }),
        device({ gpuInstance: "3", profile: "1g.10gb", weight: 1 / 7 }),
      ],
    });
    const slots = freeCapacitiesOf(snapshot)[0]?.[0]?.now?.slots;
    expect([...(slots ?? [])]).toEqual([
      ["unit:250000", { count: 3, gpus: 0.75 }],
      ["mig:1g10gb", { count: 1, gpus: 1 / 7 }],
      ["unit:142857", { count: 1, gpus: 1 / 7 }],
    ]);
  });
});

describe("free capacities that are kept", () => {
  const snapshot = moment({ devices: [device()], requestsByNode: new Map() });

  it("are the same objects while their node is as it was", () => {
    const cache = createFreeCapacitiesCache();
    const before = freeCapacitiesOf(snapshot, cache)[0]?.[0];
    const later = { ...snapshot, devices: snapshot.devices.map((one) => ({ ...one, activity: 0.9, idleSince: null })) };
    expect(freeCapacitiesOf(later, cache)[0]?.[0]).toBe(before);
  });

  it.each<[string, Partial<Snapshot>]>([
    ["pods ask for CPU", { requestsByNode: new Map([["n", { pods: 1, cpuMilli: 1, memoryBytes: 0 }]]) }],
    ["pods ask for memory", { requestsByNode: new Map([["n", { pods: 1, cpuMilli: 0, memoryBytes: 1 }]]) }],
    ["nobody knows what pods ask for", { requestsByNode: null }],
    ["the node is another object", { nodes: [nodeView({ labels: { zone: "a" } })] }],
  ])("are made again when %s", (_what, change) => {
    const cache = createFreeCapacitiesCache();
    const before = freeCapacitiesOf(snapshot, cache)[0]?.[0];
    const later = { ...snapshot, ...change };
    const found = freeCapacitiesOf(later, cache);
    expect(found[0]?.[0]).not.toBe(before);
    expect(found).toEqual(freeCapacitiesOf(later));
  });

  it("are made again when it is no longer known on which GPU a pod sits", () => {
    const cache = createFreeCapacitiesCache();
    const allocated = (estimated: boolean) => ({
      ...moment({ nodes: [nodeView({ devices: [0, 1] })], pods: [podView({ gpus: 1 })] }),
      devices: [0, 1].map(() => device({ holders: [holding({ share: 0.5, estimated }), holding({ share: 0.25 })] })),
    });
    const { nodes } = allocated(false);
    expect(freeCapacitiesOf({ ...allocated(false), nodes }, cache)[0]?.[0]?.now?.physicalGpus).toEqual([0.25, 0.25]);
    expect(freeCapacitiesOf({ ...allocated(true), nodes }, cache)[0]?.[0]?.now?.physicalGpus).toEqual([0.5]);
  });

  it("are those of now, whatever pods ask for, of however many nodes that is known, and in whatever order", () => {
    const sums = [0, 1, 2].map((cpuMilli) => ({ pods: 1, cpuMilli, memoryBytes: 0 }));
    const names = ["a", "b", "c"];
    const nodes = names.map((name, i) => nodeView({ name, devices: [i] }));
    const fleet = { ...moment({ nodes }), devices: names.map((node) => device({ node })) };
    const anyRequests = fc.option(
      fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...sums)), { maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(anyRequests, { minLength: 2, maxLength: 8 }), (moments) => {
        const cache = createFreeCapacitiesCache();
        for (const entries of moments) {
          const snapshot = { ...fleet, requestsByNode: entries === null ? null : new Map(entries) };
          expect(freeCapacitiesOf(snapshot, cache)).toEqual(freeCapacitiesOf(snapshot));
        }
      }),
      { numRuns: 2_000, seed: 31 },
    );
  });

  it("are forgotten with their node", () => {
    const cache = createFreeCapacitiesCache();
    freeCapacitiesOf(snapshot, cache);
    freeCapacitiesOf({ ...snapshot, nodes: [nodeView({ name: "other" })] }, cache);
    expect([...cache.byName.keys()]).toEqual(["other"]);
  });
});

describe("the free capacities of a quota domain", () => {
  it("are those of its pools, and one where a node has several of them", () => {
    const domains = [
      quotaDomain({ name: "A100", pools: ["A100"] }),
      quotaDomain({ name: "A100+H100", pools: ["A100", "H100"] }),
    ];
    const oneOf = (domain: number) => ({
      ...mixed,
      queueing: { ...noQueueing, domains: domains.slice(domain, domain + 1) },
    });
    const [alone, both] = [0, 1].map((domain) => {
      const snapshot = oneOf(domain);
      const freeCapacities = findFreeCapacities(snapshot);
      return { freeCapacities, found: domainFreeCapacities(snapshot, freeCapacities)[0] };
    });
    expect(alone?.found?.nodes).toEqual([alone?.freeCapacities.byNode[0]?.[0]]);
    expect(alone?.found?.nodes[0]).toBe(alone?.freeCapacities.byNode[0]?.[0]);
    expect(both?.found?.nodes.map(({ now }) => now?.gpus)).toEqual([3]);
  });
});
