import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Accounting, createAccounting } from "../../exporter/accounts/accounting.ts";
import type { AccountCounters } from "../../exporter/accounts/counters.ts";
import type { Snapshot } from "../../exporter/join/snapshot.ts";
import { gpuStates } from "../../exporter/model/gpuStates.ts";
import { buildFamilies } from "../../exporter/publish/families.ts";
import { device, holding, moment, nodeView, podView } from "../analysis/momentBuilder.ts";
import { bareReading, now } from "../join/clusterBuilder.ts";
import { analysed } from "../join/outcomes.ts";
import { health } from "../publish/moment.ts";
import { anyLifecycle, intervalSeconds, lifecycleOf } from "./clusterLifecycle.ts";

const limits = { teams: 1000, series: 50_000 };
const at = (parts: Partial<Snapshot> = {}) => analysed(moment(parts));
const tick = (cycle: number) => ({ wall: now + 30 * cycle, monotonic: 30 * cycle });
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const countedFamilies = [
  "gpuSeconds",
  "costs",
  "unpricedGpuSeconds",
  "namespaceCosts",
  "energyJoules",
  "nodeSeconds",
  "imbalanceGpuSeconds",
] as const;

/** Every series of the page's counters, by name and labels. */
function totals(counters: AccountCounters): Map<string, number> {
  const found = new Map<string, number>([
    ["covered", counters.coveredSeconds],
    ...Object.entries(counters.uncoveredSeconds).map(([reason, value]) => [`uncovered ${reason}`, value] as const),
  ]);
  for (const family of countedFamilies) {
    for (const { labels, value } of counters[family]) {
      const key = `${family} ${JSON.stringify(labels)}`;
      expect(found.has(key), `${key} is there once`).toBe(false);
      found.set(key, value);
    }
  }
  return found;
}

/** A GPU for each team, allocated and busy. */
function teams(names: readonly string[]): ReturnType<typeof at> {
  return at({
    nodes: [nodeView({ physicalGpus: names.length, devices: names.map((_, i) => i) })],
    pods: names.map((team, i) =>
      podView({ uid: `u${i}-${team}`, name: `p-${team}`, namespace: team, team, workload: i }),
    ),
    devices: names.map((team, i) =>
      device({ uuid: `GPU-${team}`, activity: 1, holders: [holding({ pod: i, activity: 1 })] }),
    ),
  });
}

describe("counters", () => {
  it("begin with the first moment, at 0, with every label set that the next step can add to", () => {
    const accounts = createAccounting({ intervalSeconds, limits });
    const reading = bareReading("GPU-0", { powerWatts: 300 });
    const busy = at({ devices: [device({ activity: 1, reading, holders: [holding({ activity: 1 })] })] });
    expect(accounts.account(busy, tick(0))).toBeNull();
    const first = totals(accounts.counters());
    expect([...first.values()].every((value) => value === 0)).toBe(true);
    accounts.account(
      at({ devices: [device({ activity: 0.5, reading, holders: [holding({ activity: 0.5 })] })] }),
      tick(1),
    );
    const second = totals(accounts.counters());
    const risen = [...second].filter(([, value]) => value > 0).map(([key]) => String(key));
    expect(risen.length).toBeGreaterThan(4);
    for (const key of risen) expect(first.has(key), key).toBe(true);
  });

  it("count covered time, and gaps by their reason", () => {
    const accounts = createAccounting({ intervalSeconds, limits });
    const busy = at({ devices: [device({ activity: 1, holders: [holding({ activity: 1 })] })] });
    accounts.account(busy, { wall: now, monotonic: 0 });
    accounts.account(busy, { wall: now + 30, monotonic: 30 });
    accounts.account(busy, { wall: now + 60, monotonic: 130 });
    accounts.account(busy, { wall: now + 3600, monotonic: 150 });
    accounts.account(at({ coverage: { objects: false, telemetry: true, uncountedNodes: [] } }), {
      wall: now + 3650,
      monotonic: 200,
    });
    const counters = accounts.counters();
    expect(counters.coveredSeconds).toBe(30);
    expect(counters.uncoveredSeconds).toEqual({ "too-long": 100, "clock-jump": 20, "stale-objects": 50 });
    expect(sum(counters.gpuSeconds.map((total) => total.value))).toBe(30);
  });

  it("name the worst node while the sum by device and the sum by pod differ", () => {
    const accounts = createAccounting({ intervalSeconds, limits });
    const nodes = [
      nodeView({ name: "a", physicalGpus: 0, allocatedByDevices: 1, allocatedByPods: 2, devices: [] }),
      nodeView({ name: "b", allocatedByDevices: 4, allocatedByPods: 1, devices: [0] }),
    ];
    accounts.account(at({ nodes }), tick(0));
    accounts.account(at({ nodes }), tick(1));
    expect(accounts.problems().map((p) => [p.code, p.subject])).toContainEqual(["accounting-imbalance", "b"]);
    expect(accounts.counters().imbalanceGpuSeconds.map((t) => t.value)).toEqual([120]);
    accounts.account(at(), tick(2));
    expect(accounts.problems()).toEqual([]);
  });

  it("name the pool when postings and GPUs do not agree", () => {
    const accounts = createAccounting({ intervalSeconds, limits });
    const broken = at({ nodes: [nodeView({ physicalGpus: 2 })] });
    accounts.account(broken, tick(0));
    accounts.account(broken, tick(1));
    const [problem] = accounts.problems();
    expect(problem?.code).toBe("accounts-do-not-close");
    expect(problem?.message).toMatch(/^30 GPU-seconds .* pool H100 .* 60$/);
  });

  it("keep the label sets that were first, and count all later ones together", () => {
    const accounts = createAccounting({ intervalSeconds, limits: { teams: 2, series: 50_000 } });
    accounts.account(teams(["a", "b", "c"]), tick(0));
    accounts.account(teams(["c", "d", "b"]), tick(1));
    accounts.account(teams(["e", "a", "b"]), tick(2));
    const active = accounts.counters().gpuSeconds.filter((t) => t.labels.state === "active" && t.value > 0);
    expect(Object.fromEntries(active.map((t) => [t.labels.team, t.value]))).toEqual({ a: 30, b: 60, other: 90 });
    expect(accounts.problems().map((p) => p.code)).toEqual(["gpu-time-folded"]);
    expect(accounts.counters().foldedAccounts).toBeGreaterThan(0);
  });

  it("stay within their part of the page's series, whatever comes, and lose nothing", () => {
    const series = 200;
    const accounts = createAccounting({ intervalSeconds, limits: { teams: 1000, series } });
    for (let cycle = 0; cycle < 40; cycle++)
      accounts.account(teams(Array.from({ length: 20 }, (_, i) => `t${(cycle * 7 + i) % 200}`)), tick(cycle));
    const counters = accounts.counters();
    const ofFamilies = counters.gpuSeconds.length + counters.energyJoules.length + counters.nodeSeconds.length;
    expect(ofFamilies).toBeLessThanOrEqual(series * 0.7);
    expect(sum(counters.gpuSeconds.map((t) => t.value))).toBeCloseTo(39 * 30 * 20, 6);
  });
});

describe("on the page", () => {
  it("no running total falls when teams are folded or series are cut", () => {
    const narrow = { teams: 3, series: 100 };
    const accounts = createAccounting({ intervalSeconds, limits: narrow });
    let earlier = new Map<string, number>();
    for (let cycle = 0; cycle < 30; cycle++) {
      const analysis = teams(Array.from({ length: 1 + cycle }, (_, i) => `t${i}`));
      accounts.account(analysis, tick(cycle));
      const { families } = buildFamilies({ analysis, health: health(), limits: narrow, accounts: accounts.counters() });
      const page = new Map<string, number>(
        families
          .filter((family) => family.name.endsWith("_seconds_total") || family.name.endsWith("_joules_total"))
          .flatMap(({ name, series }) =>
            series.map((s) => [`${name} ${JSON.stringify(s.labelValues)}`, s.value] as const),
          ),
      );
      expect(page.size).toBeGreaterThan(5);
      for (const [key, value] of earlier) {
        expect(page.has(key), `${key} is still there`).toBe(true);
        expect(page.get(key) ?? -1).toBeGreaterThanOrEqual(value);
      }
      earlier = page;
    }
  });
});

describe("in every lifecycle of a cluster", () => {
  const runs = { numRuns: 100, seed: 20_261_122 };

  function play(accounts: Accounting, lifecycle: ReturnType<typeof lifecycleOf>): Map<string, number>[] {
    return lifecycle.map(({ analysis, wall, monotonic }) => {
      accounts.account(analysis, { wall, monotonic });
      return totals(accounts.counters());
    });
  }

  it("totals never fall, never go, and all sums add up", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.constantFrom(100, 300, 50_000), ({ state, seed, cycles }, series) => {
        const accounts = createAccounting({ intervalSeconds, limits: { teams: 2, series } });
        let earlier = new Map<string, number>();
        for (const found of play(accounts, lifecycleOf(state, seed, cycles))) {
          for (const [key, value] of earlier) expect(found.get(key) ?? -1, key).toBeGreaterThanOrEqual(value);
          earlier = found;
        }
        expect(accounts.problems().map((p) => p.code)).not.toContain("accounts-do-not-close");
      }),
      runs,
    );
  });

  it("every state that is counted is one of the catalogue's", () => {
    const states = new Set<string>(gpuStates);
    fc.assert(
      fc.property(anyLifecycle, ({ state, seed, cycles }) => {
        const accounts = createAccounting({ intervalSeconds, limits });
        play(accounts, lifecycleOf(state, seed, cycles));
        for (const { labels } of accounts.counters().gpuSeconds) expect(states.has(labels.state)).toBe(true);
      }),
      { ...runs, numRuns: 20 },
    );
  });
});
