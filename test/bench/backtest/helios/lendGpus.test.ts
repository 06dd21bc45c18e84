import { describe, expect, it } from "vitest";
import { productionEngine } from "../../../../bench/backtest/engine.ts";
import { followQuota } from "../../../../bench/backtest/helios/followQuota.ts";
import { countsOf, type TeamSeries } from "../../../../bench/backtest/helios/heliosTrace.ts";
import { inferJobs } from "../../../../bench/backtest/helios/inferJobs.ts";
import { type LendingRule, lendGpus } from "../../../../bench/backtest/helios/lendGpus.ts";

const span = (...parts: readonly (readonly [minutes: number, value: number])[]): readonly number[] =>
  parts.flatMap(([minutes, value]) => Array<number>(minutes).fill(value));

/** Two teams of four GPUs for two days: `a` is full and two of its GPUs' worth of work waits for 300 minutes; `b` lends until minute 800. */
const minutes = 2880;
const a: TeamSeries = {
  team: "a",
  quota: span([minutes, 4]),
  running: span([minutes, 4]),
  pending: span([550, 0], [300, 2], [minutes - 850, 0]),
  idle: span([minutes, 0]),
  pendingJobs: span([550, 0], [300, 1], [minutes - 850, 0]),
};
const b: TeamSeries = {
  team: "b",
  quota: span([minutes, 4]),
  running: span([800, 0], [minutes - 800, 4]),
  pending: span([minutes, 0]),
  idle: span([800, 4], [minutes - 800, 0]),
  pendingJobs: span([minutes, 0]),
};
const reclaim: LendingRule = { limitOf: () => Infinity, isReclaimed: true, isSpread: true, knowsFuture: false };
const jobs = inferJobs([a, b], { order: "first", runFactor: 1 });
/** The same job if it runs for so many minutes. */
const running = (runs: number) => jobs.map((job) => ({ ...job, runs }));

describe("one job of two GPUs that waits for five hours", () => {
  it("is inferred from the counts", () => {
    expect(jobs).toEqual([{ id: 0, team: 0, gpus: 2, arrives: 550, starts: 850, runs: minutes }]);
    expect(countsOf([a, b])).toMatchObject({ gpus: 8, pendingHours: 10, onlyElsewhere: 500 / 600 });
  });

  it("waits as recorded under static quotas", () => {
    const outcome = lendGpus([a, b], jobs, { ...reclaim, limitOf: () => 0 });
    expect(outcome).toMatchObject({ savedHours: 0, earlierHours: 0, meanWaitHours: 5, p95WaitHours: 5 });
  });

  it("starts at once on what another team does not use, if it ends before that team needs it", () => {
    expect(lendGpus([a, b], running(100), reclaim)).toMatchObject({
      savedHours: 10,
      earlierHours: 10,
      lostHours: 0,
      meanWaitHours: 0,
    });
  });

  it("loses what it ran when the lender takes it back, and saves nothing then", () => {
    expect(lendGpus([a, b], jobs, reclaim)).toMatchObject({
      savedHours: 0,
      lostHours: (2 * 250) / 60,
      evictions: 1,
      lenderShortHours: 0,
    });
  });

  it("makes the lender wait where nothing is taken back", () => {
    expect(lendGpus([a, b], jobs, { ...reclaim, isReclaimed: false })).toMatchObject({
      savedHours: 10,
      lostHours: 0,
      lenderShortHours: (2 * 50) / 60,
    });
  });

  it("is not started by who knows that it would be taken back", () => {
    expect(lendGpus([a, b], jobs, { ...reclaim, knowsFuture: true })).toMatchObject({ savedHours: 0, evictions: 0 });
    expect(lendGpus([a, b], running(100), { ...reclaim, knowsFuture: true })).toMatchObject({ savedHours: 10 });
  });

  it("starts once the engine's advice to raise the limit of its queue is followed", () => {
    const follow = (obedience: number) =>
      followQuota([a, b], running(100), productionEngine(["change_quota"]), { obedience, seed: 1, delayMinutes: 5 });
    // People look at minute 600; five minutes later the limit is raised, and the next minute the job starts.
    expect(follow(1)).toMatchObject({ offered: 1, followed: 1, savedHours: (2 * (850 - 606)) / 60, evictions: 0 });
    expect(follow(0)).toMatchObject({ followed: 0, savedHours: 0 });
  });
});

describe("waits inferred from counts", () => {
  it("keep the pending GPU-minutes, whoever is served first", () => {
    const busy: TeamSeries = {
      ...a,
      pending: [0, 3, 5, 2, 2, 6, 0, 1],
      pendingJobs: [0, 2, 3, 1, 1, 2, 0, 1],
      running: [4, 4, 4, 4, 4, 4, 4, 4],
    };
    for (const order of ["first", "last"] as const) {
      const found = inferJobs([busy], { order, runFactor: 1 });
      const waited = found.reduce((sum, { gpus, arrives, starts }) => sum + gpus * (starts - arrives), 0);
      expect(waited).toBe(3 + 5 + 2 + 2 + 6 + 1);
    }
  });
});
