import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeFairness } from "../../../exporter/analysis/fairness/judgeFairness.ts";
import type { LevelTrace, SureStep } from "../../../exporter/analysis/fairness/trace.ts";
import { traceEntitlement } from "../../../exporter/analysis/fairness/traceEntitlement.ts";
import { quotaDomain } from "../../queues/queueView.ts";
import { moments } from "./generatedMoments.ts";
import { everything, runs } from "./generatedTrees.ts";
import { queueing } from "./queueingBuilder.ts";

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-5;
const sum = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0);
const gotIn = ({ shares }: Pick<SureStep, "shares">, queue: number): number =>
  sum(shares.flatMap((share) => (share.queue === queue ? [share.got] : [])));

/** Every amount of a level comes from somewhere and goes somewhere. */
function closes({ grant, withheld, guarantees, surplus, steps, left, results }: LevelTrace): boolean {
  const sure = sum(guarantees.shares.map(({ got }) => got));
  if (!isNear(grant - withheld - sure, surplus)) return false;
  let available = surplus;
  for (const step of steps) {
    if (!isNear(step.available, available)) return false;
    available -= sum(step.shares.map(({ got }) => got));
    if (!isNear(step.left, available)) return false;
  }
  if (!isNear(left, available)) return false;
  return results.every(({ queue, demand, entitled }) => {
    const got = gotIn(guarantees, queue) + sum(steps.map((step) => gotShare(step, queue)));
    return isNear(got, entitled) && entitled <= demand + 1e-5;
  });
}
const gotShare = (step: LevelTrace["steps"][number], queue: number): number =>
  sum(step.shares.flatMap((share) => (share.queue === queue ? [share.got] : [])));

describe("the way to an entitlement, over generated moments", () => {
  it("closes at every level, and ends at what was judged", () => {
    fc.assert(
      fc.property(moments(everything), fc.nat(), (moment, pick) => {
        const index = pick % moment.queues.length;
        const fairness = judgeFairness(moment, null);
        const trace = traceEntitlement(moment, fairness, index);
        if (trace === null || !trace.levels.every(closes)) return false;
        const path = trace.levels.map((level, i) => {
          const next = trace.levels[i + 1]?.parent ?? index;
          const result = level.results.find(({ queue }) => queue === next);
          return {
            given: result?.entitled ?? Number.NaN,
            next: trace.levels[i + 1]?.grant ?? trace.entitled - trace.lost,
          };
        });
        return path.length > 0 && path.every(({ given, next }) => isNear(given, next));
      }),
      runs,
    );
  });

  it("names those who hold what is missing, and the same from their side", () => {
    fc.assert(
      fc.property(moments(everything), (moment) => {
        const fairness = judgeFairness(moment, null);
        const pairs = fairness.domains[0]?.pairs ?? [];
        return pairs.every((pair) => {
          const missing = traceEntitlement(moment, fairness, pair.starved)?.missing ?? [];
          const owed = traceEntitlement(moment, fairness, pair.borrower)?.owed ?? [];
          return missing.includes(pair) && owed.includes(pair);
        });
      }),
      { ...runs, numRuns: 2_000 },
    );
  });
});

describe("the way to an entitlement", () => {
  const moment = queueing(
    [
      { name: "kai", kind: "Scheduler", scheduler: "kai", guaranteed: 12 },
      { name: "research", parent: "kai", guaranteed: 8, priority: 1 },
      { name: "vision", parent: "research", guaranteed: 4, allocated: 10 },
      { name: "speech", parent: "research", guaranteed: 4, weight: 3, waiting: [10, 2] },
      { name: "batch", parent: "kai", guaranteed: 4, limit: 6, allocated: 5, waiting: [4] },
      { name: "scraps", parent: "kai", weight: 0, zeroWeight: "never", waiting: [2] },
      { name: "unqueued", kind: "Unqueued", allocated: 4 },
    ],
    [quotaDomain({ capacity: 24, pools: ["H100"] })],
  );
  const fairness = judgeFairness(moment, null);

  it("gives each step in numbers", () => {
    const trace = traceEntitlement(moment, fairness, 3, { freeByPool: new Map([["H100", 5]]) });
    expect(trace).toMatchObject({ capacity: 24, setAside: 4, demand: 12, allocated: 0, entitled: 10 });
    expect(trace?.levels.map(({ parent, grant }) => [parent, grant])).toEqual([
      [null, 20],
      [0, 20],
      [1, 16],
    ]);
    expect(trace?.levels[1]).toMatchObject({
      guarantees: {
        scale: 1,
        shares: [
          { queue: 1, quota: 8, asked: 8, got: 8 },
          { queue: 4, quota: 4, asked: 4, got: 4 },
        ],
      },
      surplus: 8,
      steps: [
        { priority: 1, available: 8, left: 0, shares: [{ queue: 1, headroom: 14, got: 8, cappedBy: "nothing" }] },
        {
          priority: 0,
          available: 0,
          shares: [
            { queue: 4, headroom: 2, got: 0, cappedBy: "nothing" },
            { queue: 5, weight: 0, got: 0, cappedBy: "weight" },
          ],
        },
      ],
    });
    expect(trace?.levels[2]?.steps).toEqual([
      {
        priority: 0,
        by: "weight",
        available: 8,
        left: 0,
        shares: [
          { queue: 2, weight: 1, isFloor: false, effectiveWeight: 1, headroom: 6, got: 2, cappedBy: "nothing" },
          { queue: 3, weight: 3, isFloor: false, effectiveWeight: 3, headroom: 8, got: 6, cappedBy: "nothing" },
        ],
      },
    ]);
    expect(trace?.missing).toEqual([
      { starved: 3, borrower: 2, gpus: 4 },
      { starved: 3, borrower: 4, gpus: 1 },
    ]);
    expect(trace?.idleGap).toEqual({ gpus: 5, pools: [{ pool: "H100", free: 5 }] });
  });

  it("says for an inner queue who outside it holds what is missing", () => {
    const trace = traceEntitlement(moment, fairness, 1);
    expect(trace?.missing).toEqual([{ starved: 3, borrower: 4, gpus: 1 }]);
    expect(trace?.owed).toEqual([]);
    expect(trace?.levels).toHaveLength(2);
  });

  it("shows the borrower whom it owes", () => {
    expect(traceEntitlement(moment, fairness, 2)?.owed).toEqual([{ starved: 3, borrower: 2, gpus: 4 }]);
  });

  it("has no steps for what no queue answers for, and nothing to say where nothing is known", () => {
    expect(traceEntitlement(moment, fairness, 6)).toMatchObject({ levels: [], entitled: 4, allocated: 4 });
    expect(traceEntitlement(moment, fairness, 99)).toBeNull();
    const unknown = { ...moment, domains: [quotaDomain({ unknownBecause: "units differ" })] };
    expect(traceEntitlement(unknown, judgeFairness(unknown, null), 3)).toBeNull();
  });

  it("names the limit and the demand that stop a queue", () => {
    const capped = queueing([
      { name: "kueue", kind: "Scheduler" },
      { name: "small", parent: "kueue", allocated: 2 },
      { name: "limited", parent: "kueue", limit: 4, allocated: 4, waiting: [8] },
      { name: "large", parent: "kueue", waiting: [32] },
    ]);
    const [, level] = traceEntitlement(capped, judgeFairness(capped, null), 1)?.levels ?? [];
    expect(level?.steps[0]?.shares.map(({ cappedBy }) => cappedBy)).toEqual(["demand", "limit", "nothing"]);
  });

  it("says what is withheld, and by how much guarantees are scaled", () => {
    const moment = queueing(
      [
        { name: "kueue", kind: "Scheduler", guaranteed: 20 },
        { name: "keeper", parent: "kueue", guaranteed: 12, lendingLimit: 4 },
        { name: "other", parent: "kueue", guaranteed: 8, allocated: 12 },
      ],
      [quotaDomain({ capacity: 20 })],
    );
    const trace = traceEntitlement(moment, judgeFairness(moment, null), 2);
    expect(trace?.levels[0]).toMatchObject({ grant: 20, withheld: 8 });
    expect(trace?.entitled).toBe(12);
    const scaled = queueing(
      [
        { name: "kueue", kind: "Scheduler" },
        { name: "a", parent: "kueue", guaranteed: 12, allocated: 12 },
        { name: "b", parent: "kueue", guaranteed: 12, waiting: [12] },
      ],
      [quotaDomain({ capacity: 18 })],
    );
    expect(traceEntitlement(scaled, judgeFairness(scaled, null), 2)?.levels[1]?.guarantees.scale).toBe(0.5);
  });
});
