import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBooks } from "../../exporter/accounts/books.ts";
import type { QueueCounters } from "../../exporter/accounts/queueCounters.ts";
import { a, books, clock, evicted, limits, play, start, work } from "./queueLife.ts";
import { anyQueueLife, queueMoment } from "./queueMoments.ts";

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
  it("stand at 0 in the moment in which a queue is first seen, and rise with the next", () => {
    const book = books();
    play(book, [{ leaves: [a] }]);
    const labels = { scheduler: "kueue", kind: "ClusterQueue", queue: "a", domain: "H100", team: "a" };
    expect(book.counters().queues.totals).toMatchObject([{ ...labels, held: 0, entitled: 0 }]);
    play(book, [{ leaves: [] }], 30);
    expect(book.counters().queues.totals).toEqual([
      {
        ...labels,
        judgedSeconds: 30,
        held: 120,
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
        judgedHeld: 120,
      },
    ]);
    expect(book.counters().queues.debts.map(({ halfLifeSeconds }) => halfLifeSeconds)).toEqual([3600, 86_400, 604_800]);
  });

  it("tell whose it is that guarantees have no nodes, from 0 on, and only of owners that a queue has had", () => {
    const book = books();
    const lost = { ...a, absent: [{ owner: "lost_node" as const, gpus: 2 }] };
    const labels = { scheduler: "kueue", kind: "ClusterQueue", queue: "a", domain: "H100", team: "a" };
    play(book, [{ leaves: [a] }]);
    expect(book.counters().queues.absent).toEqual([]);
    play(book, [{ leaves: [lost] }], 30);
    expect(book.counters().queues.absent).toEqual([{ ...labels, owner: "lost_node", gpuSeconds: 0 }]);
    play(book, [{ leaves: [a] }], 60);
    expect(book.counters().queues.absent).toEqual([{ ...labels, owner: "lost_node", gpuSeconds: 60 }]);
    expect(book.counters().queues.totals).toMatchObject([{ shortfallByLostNode: 60, judgedHeld: 240 }]);
    play(book, [{ leaves: [a] }], 90);
    expect(book.counters().queues.absent).toEqual([{ ...labels, owner: "lost_node", gpuSeconds: 60 }]);
  });

  it("get nothing from a gap", () => {
    const book = books();
    book.book(queueMoment({ leaves: [a] }), clock(0));
    book.book(queueMoment({ leaves: [a] }), clock(200));
    expect(book.counters().queues.totals).toMatchObject([{ held: 0, pending: 0, judgedSeconds: 0 }]);
    expect(book.counters().queues.debts).toEqual([]);
  });

  it("keep within their part of the page, fold what is beyond it, and lose nothing", () => {
    const series = 1000;
    const book = books(series, 5);
    let held = 0;
    for (let cycle = 0; cycle < 60; cycle += 1) {
      const leaves = Array.from({ length: 20 }, (_, i) => ({
        ...a,
        name: `q${(cycle * 13 + i) % 200}`,
        team: `t${i}`,
        held: 1 + i,
      }));
      book.book(queueMoment({ leaves }), clock(30 * cycle));
      held += 30 * leaves.reduce((sum, leaf) => sum + leaf.held, 0);
    }
    held -= 30 * 210;
    const found = book.counters().queues.totals;
    expect(found.length * 10).toBeLessThanOrEqual(series * 0.1 + 10);
    expect(found.reduce((sum, total) => sum + total.held, 0)).toBeCloseTo(held, 6);
    expect(found.filter(({ queue }) => queue === "other").length).toBeGreaterThan(0);
  });

  it("never fall and never go, whatever comes", () => {
    const anything = fc.record({
      life: anyQueueLife,
      series: fc.constantFrom(100, 400, 50_000),
      teams: fc.constantFrom(1, 1000),
      names: fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(5), fc.nat(600)), { maxLength: 8 }),
    });
    fc.assert(
      fc.property(anything, ({ life, series, teams, names }) => {
        const book = books(series, teams);
        let earlier = new Map<string, number>();
        let at = 0;
        for (const { seconds, leaves } of life) {
          at += seconds;
          const started = names.map(([uid, priority, age]) =>
            work({ uid, queue: null, priorityClass: `p${priority}`, startedAt: start + at - age }),
          );
          const gone = names.map(([key, reason, age]) =>
            evicted({ key: `${key}${age}`, reason: `r${reason}`, at: start + at - age }),
          );
          book.book(queueMoment({ leaves, started, evicted: gone }), clock(at));
          const now = totals(book.counters().queues);
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
    const book = createBooks({ intervalSeconds: 30, limits, queues: { halfLives: [60], history } });
    book.book(queueMoment({ leaves: [a] }), clock(0));
    book.book(queueMoment({ leaves: [{ ...a, held: 90 }] }), clock(30));
    expect(book.usageHistory()?.usage).toEqual(new Map([["kueue/ClusterQueue/a/H100", 0.04]]));
    book.book(queueMoment({ leaves: [a] }), clock(330));
    expect(book.usageHistory()?.usage.get("kueue/ClusterQueue/a/H100")).toBeCloseTo(0.04, 9);
    expect(books().usageHistory()).toBeNull();
  });
});
