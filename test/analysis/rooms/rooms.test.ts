import { describe, expect, it } from "vitest";
import { domainRooms } from "../../../exporter/analysis/rooms/domainRooms.ts";
import { createRoomsCache, findRooms, type PoolRoom } from "../../../exporter/analysis/rooms/rooms.ts";
import { noQueueing } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { device, holding, moment, nodeView, podView } from "../momentBuilder.ts";

const roomsOf = (snapshot: Snapshot, cache = createRoomsCache()) => findRooms(snapshot, cache).byNode;

/** Two H100 and one A100, of which nobody holds any. */
const mixed = moment({
  nodes: [nodeView({ pools: ["A100", "H100"], devices: [0, 1, 2], physicalGpus: 3 })],
  devices: [device(), device({ uuid: "GPU-1" }), device({ uuid: "GPU-2", pool: "A100" })],
});

const shown = ({ pool, now, unavailableGpus, wholeCards, hasOnlyWholeCards, isWhollyFree }: PoolRoom) => ({
  ...{ pool, gpus: now?.gpus ?? null, cards: now?.cards ?? [], unavailableGpus, wholeCards },
  ...{ hasOnlyWholeCards, isWhollyFree },
});

describe("the rooms of a node", () => {
  it("are one for each of its pools, with what is free there", () => {
    expect(roomsOf(mixed).map((rooms) => rooms.map(({ pool, now }) => [pool, now?.cards]))).toEqual([
      [
        ["A100", [1]],
        ["H100", [1, 1]],
      ],
    ]);
  });

  it("tell what nobody holds and nobody can take", () => {
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
    expect(roomsOf(snapshot).flat().map(shown)).toEqual([
      {
        ...{ pool: "H100", gpus: 1.5, cards: [0.5, 1], unavailableGpus: 0, wholeCards: 2 },
        ...{ hasOnlyWholeCards: true, isWhollyFree: false },
      },
      {
        ...{ pool: "H100", gpus: 1, cards: [1], unavailableGpus: 0.5, wholeCards: 1 },
        ...{ hasOnlyWholeCards: false, isWhollyFree: false },
      },
      {
        ...{ pool: "H100", gpus: null, cards: [], unavailableGpus: 1.5, wholeCards: 0 },
        ...{ hasOnlyWholeCards: false, isWhollyFree: false },
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
    const slots = roomsOf(snapshot)[0]?.[0]?.now?.slots;
    expect([...(slots ?? [])]).toEqual([
      ["unit:250000", { count: 3, gpus: 0.75 }],
      ["mig:1g10gb", { count: 1, gpus: 1 / 7 }],
      ["unit:142857", { count: 1, gpus: 1 / 7 }],
    ]);
  });
});

describe("rooms that are kept", () => {
  const snapshot = moment({ devices: [device()], requestsByNode: new Map() });

  it("are the same objects while their node is as it was", () => {
    const cache = createRoomsCache();
    const before = roomsOf(snapshot, cache)[0]?.[0];
    const later = { ...snapshot, devices: snapshot.devices.map((one) => ({ ...one, activity: 0.9, idleSince: null })) };
    expect(roomsOf(later, cache)[0]?.[0]).toBe(before);
  });

  it.each<[string, Partial<Snapshot>]>([
    ["pods ask for CPU", { requestsByNode: new Map([["n", { pods: 1, cpuMilli: 1, memoryBytes: 0 }]]) }],
    ["pods ask for memory", { requestsByNode: new Map([["n", { pods: 1, cpuMilli: 0, memoryBytes: 1 }]]) }],
    ["nobody knows what pods ask for", { requestsByNode: null }],
    ["the node is another object", { nodes: [nodeView({ labels: { zone: "a" } })] }],
  ])("are made again when %s", (_what, change) => {
    const cache = createRoomsCache();
    const before = roomsOf(snapshot, cache)[0]?.[0];
    const later = { ...snapshot, ...change };
    const found = roomsOf(later, cache);
    expect(found[0]?.[0]).not.toBe(before);
    expect(found).toEqual(roomsOf(later));
  });

  it("are made again when it is no longer known on which card a pod sits", () => {
    const cache = createRoomsCache();
    const held = (estimated: boolean) => ({
      ...moment({ nodes: [nodeView({ devices: [0, 1] })], pods: [podView({ gpus: 1 })] }),
      devices: [0, 1].map(() => device({ holders: [holding({ share: 0.5, estimated }), holding({ share: 0.25 })] })),
    });
    const { nodes } = held(false);
    expect(roomsOf({ ...held(false), nodes }, cache)[0]?.[0]?.now?.cards).toEqual([0.25, 0.25]);
    expect(roomsOf({ ...held(true), nodes }, cache)[0]?.[0]?.now?.cards).toEqual([0.5]);
  });

  it("are forgotten with their node", () => {
    const cache = createRoomsCache();
    roomsOf(snapshot, cache);
    roomsOf({ ...snapshot, nodes: [nodeView({ name: "other" })] }, cache);
    expect([...cache.byName.keys()]).toEqual(["other"]);
  });
});

describe("the rooms of a quota domain", () => {
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
      const rooms = findRooms(snapshot);
      return { rooms, found: domainRooms(snapshot, rooms)[0] };
    });
    expect(alone?.found?.nodes).toEqual([alone?.rooms.byNode[0]?.[0]]);
    expect(alone?.found?.nodes[0]).toBe(alone?.rooms.byNode[0]?.[0]);
    expect(both?.found?.nodes.map(({ now }) => now?.gpus)).toEqual([3]);
  });
});
