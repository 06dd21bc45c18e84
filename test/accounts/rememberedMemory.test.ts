import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LedgerStart, RememberedChange } from "../../exporter/accounts/ledger/ledger.ts";
import {
  type MemoryAt,
  memoryFromLedger,
  rememberedChanges,
  rememberedIn,
} from "../../exporter/accounts/rememberedMemory.ts";
import { emptyMemory, type Memory } from "../../exporter/join/memory.ts";

const at = 1_793_577_600;
const interval = 30;
const nothing: MemoryAt = { memory: emptyMemory, at: 0 };

/** What a ledger holds after changes were written with an entry that ended at `to`. */
function written(
  before: ReadonlyMap<string, string>,
  changes: readonly RememberedChange[],
): ReadonlyMap<string, string> {
  const rows = new Map(before);
  for (const { kind, key, value } of changes) {
    if (value === null) rows.delete(JSON.stringify([kind, key]));
    else rows.set(JSON.stringify([kind, key]), value);
  }
  return rows;
}

function startOf(rows: ReadonlyMap<string, string>, to: number): LedgerStart {
  return {
    lastInterval: { from: to - 30, to, seconds: 30, gap: null },
    remembered: [...rows].map(([place, value]) => {
      const [kind, key]: [string, string] = JSON.parse(place);
      return { kind, key, value };
    }),
  };
}

const keys = fc.constantFrom("n1/GPU-1", "n1/GPU-2", "__proto__", "n2/GPU-1/3", "");

/** Times up to `now`, often exactly now. */
const times = (now: number) =>
  fc
    .array(
      fc.tuple(
        keys,
        fc.oneof(fc.constant(now), fc.integer({ min: 0, max: now }), fc.double({ min: 0, max: now, noNaN: true })),
      ),
    )
    .map((entries) => new Map(entries));

const nodeMemories = fc
  .array(
    fc.tuple(
      keys,
      fc.record({
        bootId: fc.string(),
        physicalGpus: fc.nat(16),
        countedBy: fc.constantFrom("slices" as const, "labels" as const),
        models: fc.array(fc.string(), { maxLength: 2 }),
        uuids: fc.array(fc.string(), { maxLength: 3 }),
      }),
    ),
  )
  .map((entries) => new Map(entries));

const serverMemories = (now: number) =>
  fc
    .array(
      fc.tuple(
        keys,
        fc.record({
          finished: fc.nat(),
          promptTokens: fc.option(fc.nat()),
          generatedTokens: fc.option(fc.nat()),
          since: fc.option(fc.integer({ min: 0, max: now })),
        }),
      ),
    )
    .map((entries) => new Map(entries));

const memories = (now: number): fc.Arbitrary<Memory> =>
  fc.record({
    nodes: nodeMemories,
    servers: serverMemories(now),
    idleSince: times(now),
    stalledSince: times(now),
    stalledUnseenSince: times(now),
    activeUnallocatedAt: times(now),
    allocatedAt: times(now),
    gangSince: times(now),
    gangMost: times(now),
    gangNewest: times(now),
    pendingSince: times(now),
    notReadySince: times(now),
    shortSince: times(now),
    blockedSince: times(now),
    idleNodeSince: times(now),
  });

describe("what is remembered", () => {
  test("comes back from the ledger after any number of cycles", () => {
    const lives = fc.tuple(memories(at), memories(at + 30), memories(at + 60));
    fc.assert(
      fc.property(lives, (cycles) => {
        let rows: ReadonlyMap<string, string> = new Map();
        let before = nothing;
        for (const [i, memory] of cycles.entries()) {
          const now = { memory, at: at + 30 * i };
          rows = written(rows, rememberedChanges(before, now));
          expect(rememberedIn(startOf(rows, now.at))).toEqual(now);
          expect(rememberedChanges(now, now)).toEqual([]);
          before = now;
        }
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test("costs nothing for what only goes on: allocated and active devices, idle time, nodes", () => {
    const allocated = (now: number): MemoryAt => {
      const devices = new Map(Array.from({ length: 100 }, (_, i) => [`n/GPU-${i}`, now] as const));
      return {
        memory: { ...emptyMemory, allocatedAt: devices, activeUnallocatedAt: devices, idleSince: new Map([["x", at]]) },
        at: now,
      };
    };
    expect(rememberedChanges(nothing, allocated(at))).toHaveLength(201);
    expect(rememberedChanges(allocated(at), allocated(at + 30))).toEqual([]);
    const ended = {
      ...allocated(at + 60),
      memory: { ...allocated(at + 60).memory, allocatedAt: allocated(at + 30).memory.allocatedAt },
    };
    expect(rememberedChanges(allocated(at + 30), ended)).toHaveLength(100);
  });

  test("is left out where a row cannot be read", () => {
    const remembered = [
      { kind: "idle", key: "a", value: "" },
      { kind: "idle", key: "b", value: "yesterday" },
      { kind: "idle", key: "c", value: "-1" },
      { kind: "node", key: "d", value: "{" },
      { kind: "node", key: "e", value: '{"bootId":"x","physicalGpus":-1,"countedBy":"slices","models":[],"uuids":[]}' },
      { kind: "node", key: "f", value: '{"bootId":"x","physicalGpus":8,"countedBy":"guess","models":[],"uuids":[]}' },
      { kind: "toString", key: "g", value: "1" },
      { kind: "server", key: "h", value: '{"finished":-1,"promptTokens":null,"generatedTokens":null,"since":null}' },
      { kind: "server", key: "i", value: '{"finished":1,"since":null}' },
    ];
    expect(rememberedIn({ lastInterval: null, remembered })).toEqual(nothing);
  });
});

describe("after a restart", () => {
  const last = at + 300;
  const all: Memory = {
    nodes: new Map([["n1", { bootId: "b", physicalGpus: 8, countedBy: "slices", models: ["H100"], uuids: ["GPU-1"] }]]),
    servers: new Map([["uid-s", { finished: 5, promptTokens: null, generatedTokens: 70, since: at }]]),
    idleSince: new Map([["n1/GPU-1", at]]),
    stalledSince: new Map([["n1/GPU-4", at]]),
    stalledUnseenSince: new Map([["n1/GPU-4", at + 270]]),
    activeUnallocatedAt: new Map([["n1/GPU-2", last]]),
    allocatedAt: new Map([["n1/GPU-3", last]]),
    gangSince: new Map([["ns/gang", at]]),
    gangMost: new Map([["ns/gang", 4]]),
    gangNewest: new Map([["ns/gang", at - 60]]),
    pendingSince: new Map([["uid", at]]),
    notReadySince: new Map([["n2", at]]),
    shortSince: new Map([["kueue/ClusterQueue/search/H100", at]]),
    blockedSince: new Map([["Job/ml/train uid", at]]),
    idleNodeSince: new Map([["allocated/n3", at]]),
  };
  const noSamples = { idleSince: new Map(), stalledSince: new Map(), stalledUnseenSince: new Map() };
  const start = startOf(written(new Map(), rememberedChanges(nothing, { memory: all, at: last })), last);

  test("within three cycles, everything still holds", () => {
    expect(memoryFromLedger(start, last + 90, interval)).toEqual(all);
  });

  test("later, samples were not seen: idle and stalled time begin anew, the rest still holds", () => {
    expect(memoryFromLedger(start, last + 91, interval)).toEqual({ ...all, ...noSamples });
    expect(memoryFromLedger(start, last + 3600, interval)).toEqual({ ...all, ...noSamples });
  });

  test("after an hour, a gang may have been whole in between, a queue not short, work not blocked, a node not idle", () => {
    const unseen = {
      gangSince: new Map(),
      gangMost: new Map(),
      gangNewest: new Map(),
      shortSince: new Map(),
      blockedSince: new Map(),
      idleNodeSince: new Map(),
    };
    const expected = { ...all, ...noSamples, ...unseen };
    expect(memoryFromLedger(start, last + 3601, interval)).toEqual(expected);
  });

  test("a server that never had a request may have been restarted in between, unless it was watched", () => {
    const zero = { finished: 0, promptTokens: 0, generatedTokens: 0, since: at };
    const memory = { ...emptyMemory, servers: new Map([["uid-z", zero]]) };
    const began = startOf(written(new Map(), rememberedChanges(nothing, { memory, at: last })), last);
    expect(memoryFromLedger(began, last + 90, interval).servers).toEqual(memory.servers);
    expect(memoryFromLedger(began, last + 91, interval).servers.size).toBe(0);
  });

  test("with a clock that was set back, times of the future are forgotten", () => {
    const memory = memoryFromLedger(start, last - 10, interval);
    expect(memory).toEqual({ ...all, activeUnallocatedAt: new Map(), allocatedAt: new Map() });
  });

  test("a new ledger knows nothing", () => {
    expect(memoryFromLedger({ lastInterval: null, remembered: [] }, at, interval)).toEqual(emptyMemory);
  });
});
