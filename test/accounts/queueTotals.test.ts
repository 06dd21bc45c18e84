import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import type { QueueCounters } from "../../exporter/accounts/queueCounters.ts";
import { a, accounts, clock, evicted, limits, play, start, work } from "./queueLifecycle.ts";
import { anyQueueLifecycle, queueMoment } from "./queueMoments.ts";

/** Every total by its labels; one label set twice is a fault. */
function totals({ totals: sums, absent, waits, evictions, partialGangGpuSeconds }: QueueCounters): Map<string, number> {
  const found = new Map<string, number>();
  const put = (family: string, labels: readonly unknown[], value: number): void => {
    const key = JSON.stringify([family, ...labels]);
    expect(found.has(key), `${key} is there once`).toBe(false);
    found.set(key, value);
  };
  for (const { scheduler, kind, queue, domain, team, ...amounts } of sums)
    for (const [name, value] of Object.entries(amounts)) put(name, [scheduler, kind, queue, domain, team], value);
  for (const { gpuSeconds, ...labels } of absent) put("absent", Object.values(labels), gpuSeconds);
  for (const { queue, priorityClass, phase, buckets, sumSeconds, count } of waits) {
    for (const [i, value] of [...buckets, sumSeconds, count].entries())
      put(`waits ${i}`, [queue, priorityClass, phase], value);
  }
  for (const { queue, team, reason, preemptorQueue, evictions: times, lostGpuSeconds } of evictions) {
    put("evictions", [queue, team, reason, preemptorQueue], times);
    put("lost", [queue, team, reason, preemptorQueue], lostGpuSeconds);
  }
  for (const { pool, gpuSeconds } of partialGangGpuSeconds) put("partial", [pool], gpuSeconds);
  return found;
}

describe("the totals of queues", () => {
  it("are 0 in the moment in which a queue is first seen, and rise with the next", () => {
    const account = accounts();
    play(account, [{ leaves: [a] }]);
    const labels = { scheduler: "kueue", kind: "ClusterQueue", queue: "a", domain: "H100", team: "a" };
    expect(account.counters().queues.totals).toMatchObject([{ ...labels, allocated: 0, entitled: 0 }]);
    play(account, [{ leaves: [] }], 30);
    expect(account.counters().queues.totals).toEqual([
      {
        ...labels,
        judgedSeconds: 30,
        allocated: 120,
        entitled: 240,
        excess: 0,
        shortfallByBorrowers: 60,
        shortfallByIdleGap: 60,
        shortfallByLostNode: 0,
        shortfallByNodeToCome: 0,
        shortfallByPastQueues: 0,
        shortfallByPromisedTwice: 0,
        shortfallByIndivisible: 0,
        pending: 180,
        judgedAllocated: 120,
      },
    ]);
    expect(account.counters().queues.debts.map(({ halfLifeSeconds }) => halfLifeSeconds)).toEqual([
      3600, 86_400, 604_800,
    ]);
  });

  it("say for whose reason guarantees have no nodes, from 0 on, and only for reasons that a queue has had", () => {
    const account = accounts();
    const lost = { ...a, absent: [{ owner: "lost_node" as const, gpus: 2 }] };
    const labels = { scheduler: "kueue", kind: "ClusterQueue", queue: "a", domain: "H100", team: "a" };
    play(account, [{ leaves: [a] }]);
    expect(account.counters().queues.absent).toEqual([]);
    play(account, [{ leaves: [lost] }], 30);
    expect(account.counters().queues.absent).toEqual([{ ...labels, owner: "lost_node", gpuSeconds: 0 }]);
    play(account, [{ leaves: [a] }], 60);
    expect(account.counters().queues.absent).toEqual([{ ...labels, owner: "lost_node", gpuSeconds: 60 }]);
    expect(account.counters().queues.totals).toMatchObject([{ shortfallByLostNode: 60, judgedAllocated: 240 }]);
    play(account, [{ leaves: [a] }], 90);
    expect(account.counters().queues.absent).toEqual([{ ...labels, owner: "lost_node", gpuSeconds: 60 }]);
  });

  it("get nothing from a gap", () => {
    const account = accounts();
    account.account(queueMoment({ leaves: [a] }), clock(0));
    account.account(queueMoment({ leaves: [a] }), clock(200));
    expect(account.counters().queues.totals).toMatchObject([{ allocated: 0, pending: 0, judgedSeconds: 0 }]);
    expect(account.counters().queues.debts).toEqual([]);
  });

  it("keep within their part of the page, fold what is beyond it, and lose nothing", () => {
    const series = 1000;
    const account = accounts(series, 5);
    let allocated = 0;
    for (let cycle = 0; cycle < 60; cycle += 1) {
      const leaves = Array.from({ length: 20 }, (_, i) => ({
        ...a,
        name: `q${(cycle * 13 + i) % 200}`,
        team: `t${i}`,
        allocated: 1 + i,
      }));
      account.account(queueMoment({ leaves }), clock(30 * cycle));
      allocated += 30 * leaves.reduce((sum, leaf) => sum + leaf.allocated, 0);
    }
    allocated -= 30 * 210;
    const found = account.counters().queues.totals;
    expect(found.length * 10).toBeLessThanOrEqual(series * 0.1 + 10);
    expect(found.reduce((sum, total) => sum + total.allocated, 0)).toBeCloseTo(allocated, 6);
    expect(found.filter(({ queue }) => queue === "other").length).toBeGreaterThan(0);
  });

  it("never fall and never go, whatever comes", () => {
    const anything = fc.record({
      lifecycle: anyQueueLifecycle,
      series: fc.constantFrom(100, 400, 50_000),
      teams: fc.constantFrom(1, 1000),
      names: fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(5), fc.nat(600)), { maxLength: 8 }),
    });
    fc.assert(
      fc.property(anything, ({ lifecycle, series, teams, names }) => {
        const account = accounts(series, teams);
        let earlier = new Map<string, number>();
        let at = 0;
        for (const { seconds, leaves } of lifecycle) {
          at += seconds;
          const started = names.map(([uid, priority, age]) =>
            work({ uid, queue: null, priorityClass: `p${priority}`, startedAt: start + at - age }),
          );
          const gone = names.map(([key, reason, age]) =>
            evicted({ key: `${key}${age}`, reason: `r${reason}`, at: start + at - age }),
          );
          account.account(queueMoment({ leaves, started, evicted: gone }), clock(at));
          const now = totals(account.counters().queues);
          for (const [key, value] of earlier) expect(now.get(key) ?? -1, key).toBeGreaterThanOrEqual(value);
          earlier = now;
        }
      }),
      { numRuns: 150, seed: 20_261_127 },
    );
  });
});

describe("past use", () => {
  it("counts covered steps only", () => {
    const history = { enabled: true, halfLifeSeconds: 3600, windowSeconds: 7200, kValue: 1 };
    const account = createAccounting({ intervalSeconds: 30, limits, queues: { halfLives: [60], history } });
    account.account(queueMoment({ leaves: [a] }), clock(0));
    account.account(queueMoment({ leaves: [{ ...a, allocated: 90 }] }), clock(30));
    expect(account.usageHistory()?.usage).toEqual(new Map([["kueue/ClusterQueue/a/H100", 0.04]]));
    account.account(queueMoment({ leaves: [a] }), clock(330));
    expect(account.usageHistory()?.usage.get("kueue/ClusterQueue/a/H100")).toBeCloseTo(0.04, 9);
    expect(accounts().usageHistory()).toBeNull();
  });
});
