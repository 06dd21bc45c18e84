import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Joined } from "../../exporter/join/join.ts";
import { emptyMemory } from "../../exporter/join/memory.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import type { ClusterState } from "../../exporter/model/cluster.ts";
import { sampled } from "../sampled.ts";
import { now } from "./clusterBuilder.ts";
import { anyCluster } from "./clusterGenerator.ts";
import { expectEqual } from "./expectEqual.ts";
import { analysed, defaultSettings, joined } from "./outcomes.ts";

const runs = { numRuns: 300, seed: 20_260_101 };

/** Two cycles, so that what is remembered takes part. */
function twoCycles(state: ClusterState): readonly Joined[] {
  const first = joined(state, defaultSettings, emptyMemory, now - 1800);
  return [first, joined(state, defaultSettings, first.memory, now)];
}

type Analysed = ReturnType<typeof analysed>;

const everyCluster = sampled(anyCluster, runs, (state) =>
  twoCycles(state).map(({ snapshot }) => ({ snapshot, state, analysis: analysed(snapshot) })),
);

function everySnapshot(check: (snapshot: Snapshot, analysis: Analysed, state: ClusterState) => void): void {
  everyCluster((cycles) => {
    for (const { snapshot, analysis, state } of cycles) check(snapshot, analysis, state);
  });
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

function near(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

/** The same state with every array in another order. */
function shuffled(state: ClusterState, seed: number): ClusterState {
  let random = seed;
  const order = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => {
        random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
        return { item, at: random };
      })
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  return {
    ...state,
    nodes: order(state.nodes),
    pods: order(state.pods),
    namespaces: order(state.namespaces),
    resourceClaims: order(state.resourceClaims).map((c) => ({ ...c, reservedForPods: order(c.reservedForPods) })),
    resourceSlices: order(state.resourceSlices).map((s) => ({ ...s, devices: order(s.devices) })),
    owners: order(state.owners),
    telemetry: order(state.telemetry).map((p) => ({ ...p, devices: order(p.devices) })),
  };
}

describe("of every cluster", () => {
  it("the accounting entries of each pool and of all pools add up to the physical GPUs", () => {
    everySnapshot((snapshot, { accountingEntries, pools }) => {
      near(sum(accountingEntries.list.map((b) => b.gpus)), sum(snapshot.nodes.map((n) => n.physicalGpus ?? 0)));
      near(sum(pools.map((p) => p.physicalGpus)), sum(snapshot.nodes.map((n) => n.physicalGpus ?? 0)));
      for (const pool of pools) near(sum(Object.values(pool.states)), pool.physicalGpus);
      for (const view of snapshot.nodes)
        near(
          sum(accountingEntries.list.filter((b) => b.node === view.name).map((b) => b.gpus)),
          view.physicalGpus ?? 0,
        );
    });
  });

  it("no accounting entry is negative or not a number", () => {
    everySnapshot((_, { accountingEntries }) => {
      for (const accountingEntry of accountingEntries.list) expect(accountingEntry.gpus).toBeGreaterThanOrEqual(0);
    });
  });

  it("no device is allocated above its weight", () => {
    everySnapshot((snapshot) => {
      for (const device of snapshot.devices)
        expect(sum(device.holders.map((h) => h.share))).toBeLessThanOrEqual(device.weight * (1 + 1e-12));
    });
  });

  it("no pod holds more than it asks for, none that has ended or waits holds anything", () => {
    everySnapshot((snapshot, _, state) => {
      const shares = new Map<number, number>();
      for (const holding of snapshot.devices.flatMap((device) => device.holders))
        shares.set(holding.pod, (shares.get(holding.pod) ?? 0) + holding.share);
      const phases = new Map(state.pods.map((pod) => [pod.uid, pod] as const));
      for (const [index, share] of shares) {
        const view = snapshot.pods[index];
        const pod = phases.get(view?.uid ?? "");
        expect(share).toBeLessThanOrEqual((view?.gpus ?? 0) + 1e-6);
        expect([pod?.phase === "Succeeded", pod?.phase === "Failed", pod?.nodeName === null]).toEqual([
          false,
          false,
          false,
        ]);
      }
    });
  });

  it("the sums by device and by pod of a node agree, or a problem says that they do not", () => {
    const known = ["allocated-twice", "more-allocated-than-there-is", "node-uncounted", "mig-overfull"];
    everySnapshot((snapshot) => {
      for (const view of snapshot.nodes) {
        if (Math.abs(view.allocatedByDevices - view.allocatedByPods) <= 1e-6) continue;
        expect(snapshot.problems.some((p) => p.subject === view.name && known.includes(p.code))).toBe(true);
      }
    });
  });

  it("a device that is not observed is never active, underutilized or idle", () => {
    everySnapshot((snapshot, { accountingEntries }) => {
      for (const accountingEntry of accountingEntries.list) {
        const device = accountingEntry.device === null ? undefined : snapshot.devices[accountingEntry.device];
        if (accountingEntry.pod === null || device?.activity !== null) continue;
        expect(["unobserved", "unavailable", "gang_wait", "starting"]).toContain(accountingEntry.state);
        expect(device.idleNow).toBeNull();
      }
    });
  });

  it("activity and utilization are within 0..1, or unknown", () => {
    everySnapshot((snapshot, { teams, pools }) => {
      const ratios = [
        ...teams.map((t) => t.utilization),
        ...pools.flatMap((p) => [p.utilization, p.activity]),
        ...snapshot.devices.flatMap((d) => [d.activity, ...d.holders.map((h) => h.activity)]),
      ];
      for (const ratio of ratios) expect(ratio === null || (ratio >= 0 && ratio <= 1)).toBe(true);
    });
  });

  it("active GPUs are no more than the devices are active", () => {
    everySnapshot((snapshot, { pools }) => {
      for (const { pool, states } of pools) {
        const there = snapshot.devices.filter((d) => d.pool === pool).map((d) => (d.activity ?? 0) * d.weight);
        expect(states.active ?? 0).toBeLessThanOrEqual(sum(there) + 1e-9);
      }
    });
  });

  it("the order of the objects, of the pages and of their rows does not matter", () => {
    fc.assert(
      fc.property(anyCluster, fc.integer({ min: 1, max: 1e6 }), (state, seed) => {
        const [one, other] = [twoCycles(state), twoCycles(shuffled(state, seed))];
        for (const [i, cycle] of one.entries()) {
          expectEqual(other[i]?.snapshot, cycle.snapshot);
          expectEqual(other[i]?.memory, cycle.memory);
        }
      }),
      { ...runs, numRuns: 150 },
    );
  });

  it("the join is deterministic and changes neither its input nor its memory", () => {
    fc.assert(
      fc.property(anyCluster, (state) => {
        const before = structuredClone(state);
        const [first, second] = twoCycles(deepFreeze(state));
        expectEqual(state, before);
        expectEqual(twoCycles(state), [first, second]);
        const memory = structuredClone(first?.memory);
        joined(state, defaultSettings, first?.memory, now + 30);
        expectEqual(first?.memory, memory);
      }),
      { ...runs, numRuns: 100 },
    );
  });
});

describe("with absurd values", () => {
  const absurdText = fc.constantFrom(
    "",
    "__proto__",
    "constructor",
    "x".repeat(300),
    "nvidia.com/gpu",
    "\u0000",
    "1e309",
    "-1",
  );
  const absurdNumber = fc.constantFrom(0, -1, 1e300, Number.MAX_SAFE_INTEGER, 0.1);

  /** Replaces some texts and numbers anywhere in a state. */
  function spoil(value: unknown, next: () => unknown): unknown {
    if (typeof value === "string" || typeof value === "number") {
      const other = next();
      return typeof other === typeof value ? other : value;
    }
    if (Array.isArray(value)) return value.map((item) => spoil(item, next));
    if (value instanceof Set || value instanceof Map || typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, spoil(item, next)]));
  }

  /** Only texts and numbers are replaced, by others: the shape stays. */
  const isState = (value: unknown): value is ClusterState =>
    typeof value === "object" && value !== null && "nodes" in value && "telemetry" in value;

  it("nothing throws, and nothing on Object.prototype changes", () => {
    const spoilers = fc.array(fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, absurdText, absurdNumber), {
      minLength: 40,
      maxLength: 80,
    });
    fc.assert(
      fc.property(anyCluster, spoilers, (state, values) => {
        let at = 0;
        const spoiled = spoil(state, () => values[at++ % values.length] ?? null);
        if (!isState(spoiled)) throw new Error("spoiling keeps the shape");
        for (const { snapshot } of twoCycles(spoiled)) analysed(snapshot);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { ...runs, numRuns: 150 },
    );
  });
});
