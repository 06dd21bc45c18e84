import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accrue } from "../../exporter/accounts/accrue.ts";
import type { AccruedTime } from "../../exporter/accounts/posting.ts";
import { balanceCosts, balancePools, openCosts } from "../../exporter/accounts/selfCheck.ts";
import { chargeBases, charged, shareUnallocated } from "../../exporter/model/charge.ts";
import { entriesOf } from "../analysis/entriesOf.ts";
import { sampled } from "../sampled.ts";
import { anyLifecycle, intervalSeconds, lifecycleOf, type Moment } from "./clusterLifecycle.ts";
import { type NaiveSum, naiveAccrue } from "./naiveAccrue.ts";

const runs = { numRuns: 150, seed: 20_261_121 };

const timeOf = (a: Moment, b: Moment) => ({
  from: a.wall,
  to: b.wall,
  seconds: b.monotonic - a.monotonic,
  intervalSeconds,
});

const step = (a: Moment, b: Moment): AccruedTime => accrue(a.analysis, b.analysis, timeOf(a, b));

function pairs(moments: readonly Moment[]): readonly (readonly [Moment, Moment])[] {
  return moments.slice(1).flatMap((later, i) => {
    const earlier = moments[i];
    return earlier === undefined ? [] : [[earlier, later] as const];
  });
}

/** Postings as the naive twin keys them. */
function sumsOf({ postings }: AccruedTime): Map<string, NaiveSum> {
  const sums = new Map<string, NaiveSum>();
  for (const { hour, account: a, workload: w, gpuSeconds, estimatedGpuSeconds, energyJoules, cost } of postings) {
    const place = [a.pool, a.nodePool, a.capacityType, a.team, a.queue, a.namespace, a.priorityClass, a.state];
    const key = JSON.stringify([hour, a.currency, ...place, w === null ? null : [w.kind, w.namespace, w.name]]);
    expect(sums.has(key), `one posting for ${key}`).toBe(false);
    sums.set(key, { gpuSeconds, estimatedGpuSeconds, energyJoules, cost });
  }
  return sums;
}

function expectSame(found: ReadonlyMap<string, NaiveSum>, wanted: ReadonlyMap<string, NaiveSum>): void {
  const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));
  for (const key of new Set([...found.keys(), ...wanted.keys()])) {
    const nothing = { gpuSeconds: 0, estimatedGpuSeconds: 0, energyJoules: null, cost: null };
    const a = found.get(key) ?? nothing;
    const b = wanted.get(key) ?? nothing;
    // What is lost in adding up may decide whether there is a posting at all.
    if (Math.max(a.gpuSeconds, b.gpuSeconds) < 1e-9) continue;
    const isSame =
      near(a.gpuSeconds, b.gpuSeconds) &&
      near(a.estimatedGpuSeconds, b.estimatedGpuSeconds) &&
      (a.energyJoules === null) === (b.energyJoules === null) &&
      near(a.energyJoules ?? 0, b.energyJoules ?? 0) &&
      (a.cost === null) === (b.cost === null) &&
      near(a.cost ?? 0, b.cost ?? 0);
    expect(isSame, `${key}: ${JSON.stringify(a)} is ${JSON.stringify(b)}`).toBe(true);
  }
}

function addAll(sums: Map<string, number>, added: ReadonlyMap<string, number>): void {
  for (const [key, amount] of added) sums.set(key, (sums.get(key) ?? 0) + amount);
}

function sum(amounts: Iterable<number>): number {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
}

/** Counted cost of a step by currency. */
function costsOf({ postings }: AccruedTime): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { account, cost } of postings) {
    expect(cost === null).toBe(account.currency === null);
    expect(cost ?? 0).toBeGreaterThanOrEqual(0);
    if (cost !== null) addAll(sums, new Map([[account.currency ?? "", cost]]));
  }
  return sums;
}

/** What the nodes of a moment cost by currency, straight from the nodes and their prices. */
function nodeCosts({ snapshot, prices }: Moment["analysis"], seconds: number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { name, physicalGpus } of snapshot.nodes) {
    const price = prices.byNode.get(name);
    if (price === undefined || physicalGpus === null) continue;
    addAll(sums, new Map([[price.currency, (physicalGpus * price.perGpuHour * seconds) / 3600]]));
  }
  return sums;
}

/** The costs of a step are those of its nodes, in every pool, and over all by the node times. */
function expectClosedCosts(accrued: AccruedTime, { snapshot, prices }: Moment["analysis"]): void {
  for (const { pool, relativeDifference } of balanceCosts(accrued, snapshot, prices))
    expect(relativeDifference, `pool ${pool}`).toBeLessThan(1e-9);
  expect(openCosts(accrued, snapshot, prices)).toEqual([]);
  const nodeTimes = new Map<string, number>();
  for (const { currency, cost } of accrued.nodeTimes) {
    expect(cost === null).toBe(currency === null);
    if (cost !== null) addAll(nodeTimes, new Map([[currency ?? "", cost]]));
  }
  expectClose(nodeTimes, costsOf(accrued));
}

function expectClose(found: ReadonlyMap<string, number>, wanted: ReadonlyMap<string, number>): void {
  for (const key of new Set([...found.keys(), ...wanted.keys()])) {
    const [a, b] = [found.get(key) ?? 0, wanted.get(key) ?? 0];
    expect(Math.abs(a - b), `${key}: ${a} is ${b}`).toBeLessThanOrEqual(1e-9 * Math.max(a, b));
  }
}

function hasOtherPrices(a: Moment, b: Moment): boolean {
  const before = a.analysis.prices.byNode;
  return [...b.analysis.prices.byNode].some(([node, price]) => before.get(node)?.perGpuHour !== price.perGpuHour);
}

/** Every lifecycle with its steps, each with the two moments that it is between. */
const everyLifecycle = sampled(anyLifecycle, runs, ({ state, seed, cycles }) =>
  pairs(lifecycleOf(state, seed, cycles)).map(([a, b]) => ({ a, b, accrued: step(a, b) })),
);

describe("accrual, in every lifecycle of a cluster", () => {
  it("is what its naive twin says", () => {
    let covered = 0;
    everyLifecycle((steps) => {
      for (const { a, b, accrued } of steps) {
        if (accrued.interval.gap !== null) continue;
        covered += 1;
        expectSame(sumsOf(accrued), naiveAccrue(a.analysis, b.analysis, timeOf(a, b)));
      }
    });
    expect(covered).toBeGreaterThan(100);
  });

  it("adds up in every pool, hour by hour, with nothing negative", () => {
    everyLifecycle((steps) => {
      for (const { a, accrued } of steps) {
        for (const { pool, relativeDifference } of balancePools(accrued))
          expect(relativeDifference, `pool ${pool}`).toBeLessThan(1e-9);
        for (const posting of accrued.postings) {
          expect(posting.gpuSeconds).toBeGreaterThan(0);
          expect(posting.estimatedGpuSeconds).toBeGreaterThanOrEqual(0);
          expect(posting.estimatedGpuSeconds).toBeLessThanOrEqual(posting.gpuSeconds * (1 + 1e-12));
          expect(posting.energyJoules ?? 0).toBeGreaterThanOrEqual(0);
          expect(posting.hour % 3600).toBe(0);
        }
        if (accrued.interval.gap !== null) {
          expect([accrued.postings, accrued.poolHours, accrued.nodeTimes]).toEqual([[], [], []]);
          continue;
        }
        const nodeSeconds = accrued.nodeTimes.reduce((sum, time) => sum + time.nodeSeconds, 0);
        expect(nodeSeconds).toBeCloseTo(a.analysis.snapshot.nodes.length * accrued.interval.seconds, 6);
      }
    });
  });

  it("counts GPUs that look busy and compute nothing as stalled, and adds up with them", () => {
    let gpuSeconds = 0;
    everyLifecycle((steps) => {
      for (const { accrued } of steps)
        for (const { account, gpuSeconds: accounted } of accrued.postings)
          if (account.state === "stalled") gpuSeconds += accounted;
    });
    expect(gpuSeconds).toBeGreaterThan(0);
  });

  it("costs in every pool and currency what its nodes cost, whatever their states, and so do the node times", () => {
    const seen = { priced: 0, changed: 0, currencies: new Set<string>() };
    everyLifecycle((steps) => {
      const accounted = new Map<string, number>();
      const nodes = new Map<string, number>();
      for (const { a, b, accrued } of steps) {
        if (accrued.interval.gap !== null) continue;
        expectClosedCosts(accrued, a.analysis);
        addAll(accounted, costsOf(accrued));
        addAll(nodes, nodeCosts(a.analysis, accrued.interval.seconds));
        if (hasOtherPrices(a, b)) seen.changed += 1;
      }
      expectClose(accounted, nodes);
      for (const [currency, cost] of nodes) {
        // To the cent, for totals that are kept in cents.
        expect(Math.abs((accounted.get(currency) ?? 0) - cost)).toBeLessThan(0.005);
        if (cost > 0) seen.priced += 1;
        seen.currencies.add(currency);
      }
    });
    expect([...seen.currencies].sort()).toEqual(["EUR", "USD"]);
    expect(seen.priced).toBeGreaterThan(50);
    expect(seen.changed).toBeGreaterThan(20);
  });

  it("is charged in parts that add up to the whole, on both bases, unallocated cost shared or not", () => {
    everyLifecycle((steps) => {
      for (const notCharged of [[], ["unavailable"], ["starting", "gang_wait"]]) {
        const postings = steps.flatMap(({ accrued }) => accrued.postings);
        const inDollars = postings.filter(({ account }) => account.currency === "USD");
        const whole = sum(inDollars.map(({ cost }) => cost ?? 0));
        const teams = Map.groupBy(inDollars, ({ account }) => account.team);
        const unallocated = sum((teams.get(null) ?? []).map(({ cost }) => cost ?? 0));
        for (const basis of chargeBases) {
          const charges = new Map<string, number>();
          let platform = unallocated;
          for (const [team, ofTeam] of teams) {
            if (team === null) continue;
            const costs = ofTeam.map(({ account, cost }) => [account.state, cost ?? 0] as const);
            const { charged: pays, platform: stays } = charged(costs, basis, notCharged);
            charges.set(team, pays);
            platform += stays;
          }
          const paid = sum(charges.values());
          expect(Math.abs(paid + platform - whole)).toBeLessThan(1e-9 * Math.max(1, whole));
          const { shares, platform: left } = shareUnallocated(charges, platform);
          expect(Math.abs(paid + sum(shares.values()) + left - whole)).toBeLessThan(1e-9 * Math.max(1, whole));
        }
      }
    });
  });

  it("does not depend on the order of nodes, pods, pages and rows, nor on that of postings", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.integer({ min: 1, max: 1000 }), ({ state, seed }, order) => {
        const plain = pairs(lifecycleOf(state, seed, 2));
        const other = pairs(lifecycleOf(state, seed, 2, order));
        for (const [i, [a, b]] of plain.entries()) {
          const [c, d] = other[i] ?? [a, b];
          const backwards = {
            ...c,
            analysis: { ...c.analysis, accountingEntries: entriesOf(c.analysis.accountingEntries.list.toReversed()) },
          };
          expectSame(sumsOf(step(backwards, d)), sumsOf(step(a, b)));
        }
      }),
      { ...runs, numRuns: 75 },
    );
  });

  it("gives the same totals when a step without change is split at any moment", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.double({ min: 0, max: 1, noNaN: true }), ({ state, seed }, ratio) => {
        const [moment] = lifecycleOf(state, seed, 1);
        if (moment === undefined) return;
        const { analysis, wall } = moment;
        const from = Math.ceil(wall / 3600) * 3600 - 40;
        const at = from + 80 * ratio;
        const whole = { from, to: from + 80, seconds: 80, intervalSeconds };
        const parts = [
          accrue(analysis, analysis, { ...whole, to: at, seconds: at - from }),
          accrue(analysis, analysis, { ...whole, from: at, seconds: from + 80 - at }),
        ];
        const total = (steps: readonly AccruedTime[]): Map<string, number> => {
          const sums = new Map<string, number>();
          for (const { hour, account, workload, gpuSeconds } of steps.flatMap((s) => s.postings)) {
            const key = JSON.stringify([hour, account, workload]);
            sums.set(key, (sums.get(key) ?? 0) + gpuSeconds);
          }
          return sums;
        };
        const once = total([accrue(analysis, analysis, whole)]);
        const twice = total(parts);
        for (const key of new Set([...once.keys(), ...twice.keys()]))
          expect(Math.abs((once.get(key) ?? 0) - (twice.get(key) ?? 0)), key).toBeLessThan(1e-6);
      }),
      runs,
    );
  });
});
