import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accrue } from "../../exporter/accounts/accrue.ts";
import {
  type AccruedTime,
  absentSum,
  type QueueAmount,
  type QueueTime,
  queueAmounts,
} from "../../exporter/accounts/posting.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import type { QueueFairness } from "../../exporter/analysis/fairness/fairness.ts";
import type { PartialGang } from "../../exporter/analysis/waiting/waiting.ts";
import type { AbsentOwner } from "../../exporter/model/shortfall.ts";
import { anyLifecycle, intervalSeconds, lifecycleOf } from "./clusterLifecycle.ts";
import { anyQueueLifecycle, type Leaf, queueMoment } from "./queueMoments.ts";

const hour = 1_793_577_600;

function step(before: Analysis, after: Analysis, from: number, seconds: number): AccruedTime {
  return accrue(before, after, { from, to: from + seconds, seconds, intervalSeconds });
}

/** GPU-seconds of one leaf over a step, by the plain reading of the rules. */
function naive(leaf: Leaf, amount: QueueAmount, seconds: number, isKnown: boolean): number {
  const { allocated, pending, entitled, guaranteed = 0, absent = [], indivisible = 0 } = leaf;
  const hasNothing = allocated === 0 && pending === 0 && (entitled ?? 0) === 0;
  if (hasNothing && !(isKnown && guaranteed > 0)) return 0;
  const guaranteedSeconds = isKnown ? seconds : 0;
  if (amount === "guaranteedSeconds") return guaranteedSeconds;
  if (amount === "guaranteed") return guaranteed * guaranteedSeconds;
  if (hasNothing) return 0;
  const judged = entitled === null ? 0 : seconds;
  const short = Math.max(0, (entitled ?? 0) - allocated);
  const without = (owner: AbsentOwner) => (absent.find((one) => one.owner === owner)?.gpus ?? 0) * judged;
  const all: Record<Exclude<QueueAmount, "guaranteed" | "guaranteedSeconds">, number> = {
    seconds,
    judgedSeconds: judged,
    allocated: allocated * seconds,
    pending: pending * seconds,
    entitled: (entitled ?? 0) * judged,
    excess: Math.max(0, allocated - (entitled ?? 0)) * judged,
    shortfallByBorrowers: (short / 2) * judged,
    shortfallByIdleGap: (short / 2) * judged,
    shortfallByLostNode: without("lost_node"),
    shortfallByNodeToCome: without("node_to_come"),
    shortfallByPastQueues: without("past_queues"),
    shortfallByPromisedTwice: without("promised_twice"),
    shortfallByIndivisible: indivisible * judged,
    judgedAllocated: allocated * judged,
  };
  return all[amount];
}

/** Sums that are not 0, by what they are sums of. */
function createSums() {
  const sums = new Map<string, number>();
  return {
    sums,
    add(of: readonly unknown[], value: number): void {
      const key = JSON.stringify(of);
      if (value !== 0) sums.set(key, (sums.get(key) ?? 0) + value);
    },
  };
}

type Sums = ReturnType<typeof createSums>;

function addFound({ add }: Sums, { queueTimes }: AccruedTime): void {
  for (const time of queueTimes)
    for (const name of queueAmounts) add([time.hour, time.queue, time.domain, time.team, name], time[name]);
}

function addWanted({ add }: Sums, leaves: readonly Leaf[], at: number, seconds: number): void {
  const before = Math.min(seconds, Math.max(0, hour - at));
  for (const leaf of leaves) {
    const isKnown = !leaves.some(({ domain, entitled }) => domain === leaf.domain && entitled === null);
    for (const name of queueAmounts) {
      const key = [leaf.name, leaf.domain, leaf.team, name];
      add([hour - 3600, ...key], naive(leaf, name, before, isKnown));
      add([hour, ...key], naive(leaf, name, seconds - before, isKnown));
    }
  }
}

describe("queue time", () => {
  it("is the sum over covered steps of what the earlier moment had, hour by hour", () => {
    let gaps = 0;
    fc.assert(
      fc.property(anyQueueLifecycle, fc.integer({ min: -500, max: 0 }), (lifecycle, offset) => {
        const found = createSums();
        const wanted = createSums();
        let at = hour + offset;
        for (const [i, { leaves, seconds }] of lifecycle.slice(0, -1).entries()) {
          const accrued = step(
            queueMoment({ leaves }),
            queueMoment({ leaves: lifecycle[i + 1]?.leaves ?? [] }),
            at,
            seconds,
          );
          addFound(found, accrued);
          if (accrued.interval.gap === null) addWanted(wanted, leaves, at, seconds);
          else gaps += 1;
          at += seconds;
        }
        expect([...found.sums.keys()].sort()).toEqual([...wanted.sums.keys()].sort());
        for (const [key, value] of wanted.sums) expect(found.sums.get(key), key).toBeCloseTo(value, 6);
      }),
      { numRuns: 200, seed: 20_261_123 },
    );
    expect(gaps).toBeGreaterThan(50);
  });

  it("of a gap is nothing", () => {
    const moment = queueMoment({ leaves: [{ name: "a", domain: "H100", allocated: 3, pending: 2, entitled: 5 }] });
    expect(step(moment, moment, hour, 91)).toMatchObject({ interval: { gap: "too-long" }, queueTimes: [] });
  });

  it("of a domain without known entitlements is allocated and pending, and no judged time", () => {
    const moment = queueMoment({ leaves: [{ name: "a", domain: "H100", allocated: 3, pending: 2, entitled: null }] });
    expect(step(moment, moment, hour, 30).queueTimes).toMatchObject([
      { allocated: 90, pending: 60, seconds: 30, judgedSeconds: 0, entitled: 0, excess: 0, shortfallByBorrowers: 0 },
    ]);
    expect(step(moment, moment, hour, 30).queueTimes[0]?.judgedAllocated).toBe(0);
  });

  it("of a queue whose node is lost is missed by that, and deviates by nothing", () => {
    const lost = [{ owner: "lost_node" as const, gpus: 8 }];
    const moment = queueMoment({
      leaves: [{ name: "a", domain: "H100", allocated: 8, pending: 8, entitled: 8, guaranteed: 16, absent: lost }],
    });
    const [time] = step(moment, moment, hour, 30).queueTimes;
    expect(time).toMatchObject({
      judgedAllocated: 240,
      entitled: 240,
      shortfallByLostNode: 240,
      shortfallByBorrowers: 0,
    });
    expect(time).toMatchObject({ shortfallByPastQueues: 0, shortfallByIdleGap: 0, shortfallByIndivisible: 0 });
  });

  it("of all queues together is what the postings of their pools hold, and closes with what they are entitled to", () => {
    let compared = 0;
    fc.assert(
      fc.property(anyLifecycle, ({ state, seed, cycles }) => {
        const lifecycle = lifecycleOf(state, seed, cycles);
        for (const [i, { analysis, wall, monotonic }] of lifecycle.slice(0, -1).entries()) {
          const later = lifecycle[i + 1];
          if (later === undefined) continue;
          const time = { from: wall, to: later.wall, seconds: later.monotonic - monotonic, intervalSeconds };
          const { interval, queueTimes, postings } = accrue(analysis, later.analysis, time);
          if (interval.gap !== null) continue;
          for (const { name, pools } of analysis.snapshot.queueing.domains) {
            const allocated = postings.filter((p) => pools.includes(p.account.pool) && p.account.team !== null);
            const accounted = total(allocated.map(({ gpuSeconds }) => gpuSeconds));
            const queued = total(queueTimes.filter(({ domain }) => domain === name).map((queue) => queue.allocated));
            expect(Math.abs(queued - accounted)).toBeLessThan(1e-6 * Math.max(1, accounted));
            compared += 1;
          }
          compared += expectDeviations(analysis, queueTimes, interval.seconds);
        }
      }),
      { numRuns: 100, seed: 20_261_124 },
    );
    expect(compared).toBeGreaterThan(150);
  });
});

/** What is counted of each queue is its deviation, and its shortfall is that of its four causes, times the seconds. */
function expectDeviations(analysis: Analysis, queueTimes: readonly QueueTime[], seconds: number): number {
  const { queues, domains } = analysis.snapshot.queueing;
  const keyOf = (kind: string, name: string, domain: string) => JSON.stringify([kind, name, domain]);
  const judged = new Map<string, QueueFairness>();
  for (const [i, { kind, name, domain, isLeaf }] of queues.entries()) {
    const fairness = analysis.fairness.queues[i] ?? null;
    if (isLeaf && fairness !== null) judged.set(keyOf(kind, name, domains[domain]?.name ?? ""), fairness);
  }
  const accounted = Map.groupBy(queueTimes, ({ kind, queue, domain }) => keyOf(kind, queue, domain));
  for (const [key, times] of accounted) {
    const of = (amount: (time: QueueTime) => number) => total(times.map(amount)) / seconds;
    const { deviation = 0, shortfall = 0, excess = 0 } = judged.get(key) ?? {};
    const found = of(({ judgedAllocated, entitled }) => judgedAllocated - entitled);
    const causes = of((time) => time.shortfallByBorrowers + time.shortfallByIdleGap + time.shortfallByIndivisible);
    expect(Math.abs(found - deviation), key).toBeLessThan(1e-5);
    expect(Math.abs(causes + of(absentSum) - shortfall), key).toBeLessThan(1e-5);
    expect(found, key).toBeLessThanOrEqual(excess + 1e-5);
    expect(found, key).toBeGreaterThanOrEqual(excess - shortfall - 1e-5);
  }
  return accounted.size;
}

const total = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);

describe("partial gangs", () => {
  const gang = (id: string, pool: string, allocatedGpus: number): PartialGang => ({
    id,
    owner: `Job n/${id}`,
    namespace: "n",
    team: "a",
    queue: null,
    pool,
    bound: 1,
    min: 2,
    allocatedGpus,
    missingGpus: null,
    since: hour,
    hasLostMember: false,
  });

  it("add the GPU time that they hold, by pool, in covered steps only", () => {
    const partialGangs = [gang("1", "H100", 4), gang("2", "H100", 2), gang("3", "A100", 1)];
    const moment = queueMoment({ waiting: { partialGangs } });
    expect(step(moment, queueMoment({}), hour, 30).partialGangs).toEqual([
      { pool: "H100", gpuSeconds: 180 },
      { pool: "A100", gpuSeconds: 30 },
    ]);
    expect(step(moment, moment, hour, 300).partialGangs).toEqual([]);
  });
});
