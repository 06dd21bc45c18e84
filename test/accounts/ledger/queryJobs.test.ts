import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JobRow, JobsAnswer, JobsQuery } from "../../../exporter/accounts/ledger/jobsQuery.ts";
import { queryJobs } from "../../../exporter/accounts/ledger/queryJobs.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import { start } from "./entries.ts";

const day = 86_400;
const firstDay = start / day;

/** A row of workload time with everything that it is counted under. */
interface Allocated {
  readonly day: number;
  /** Id of the workload's row; two ids may have the same name. */
  readonly id: number;
  readonly name: string;
  readonly team: string | null;
  readonly queue: string | null;
  readonly state: string;
  readonly currency: string | null;
  readonly gpuSeconds: number;
  readonly cost: number;
}

/** Names by id: 3 and 4 came back as 7 and 8, and 8 once more as 9. */
const nameOf = (id: number): string => `job-${id === 7 ? 3 : id >= 8 ? 4 : id}`;

/** Whole numbers, so that sums are exact in any order. */
const allocated = fc
  .record({
    day: fc.integer({ min: 0, max: 9 }),
    id: fc.integer({ min: 0, max: 9 }),
    team: fc.constantFrom("a", "b", "__proto__", null),
    queue: fc.constantFrom("q", null),
    state: fc.constantFrom("active", "underutilized", "idle", "starting", "unobserved"),
    currency: fc.constantFrom("USD", "EUR", "__proto__", null),
    gpuSeconds: fc.integer({ min: 1, max: 100_000 }),
    cost: fc.integer({ min: 0, max: 1000 }),
  })
  .map((row): Allocated => ({ ...row, name: nameOf(row.id) }));

function ledgerWith(rows: readonly Allocated[]): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  for (const migration of ledgerMigrations) db.exec(migration);
  const addWorkload = db.prepare("INSERT INTO workloads VALUES (?, 'Job', 'ns', ?, ?)");
  for (let id = 0; id < 10; id += 1) addWorkload.run(id, nameOf(id), firstDay + 9);
  const addAccount = db.prepare(
    "INSERT INTO accounts (id, pool, node_pool, team, queue, namespace, state, last_day, currency) VALUES (?, 'h100', 'gpu', ?, ?, 'ns', ?, ?, ?)",
  );
  const addTime = db.prepare("INSERT INTO workload_time VALUES (?, ?, ?, ?, 0, 0, NULL, ?)");
  for (const [i, { day: at, id, team, queue, state, currency, gpuSeconds, cost }] of rows.entries()) {
    addAccount.run(i, team, queue, state, firstDay + 9, currency);
    addTime.run(firstDay + at, id, i, gpuSeconds, currency === null ? null : cost);
  }
  return db;
}

const sumOf = (rows: readonly Allocated[], of: (row: Allocated) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0);
const inStates = (rows: readonly Allocated[], states: readonly string[]): Allocated[] =>
  rows.filter(({ state }) => states.includes(state));
const wasted = ["underutilized", "idle"];
const seen = ["active", ...wasted];

function costsOf(rows: readonly Allocated[]): ReadonlyMap<string, number> {
  const groups = Map.groupBy(rows, ({ currency }) => currency);
  return new Map(
    [...groups].flatMap(([name, of]) => (name === null ? [] : [[name, sumOf(of, ({ cost }) => cost)] as const])),
  );
}

const gpuSeconds = (rows: readonly Allocated[]): number => sumOf(rows, (row) => row.gpuSeconds);

/** What a job's rows come to, as the answer must have it; its holder may be any of those that held most. */
function naiveJob(rows: readonly Allocated[]) {
  return {
    gpuSeconds: gpuSeconds(rows),
    activeGpuSeconds: gpuSeconds(inStates(rows, ["active"])),
    judgedGpuSeconds: gpuSeconds(inStates(rows, seen)),
    wastedGpuSeconds: gpuSeconds(inStates(rows, wasted)),
    costs: costsOf(rows),
    wasteCosts: costsOf(inStates(rows, wasted)),
  };
}

const shown = ({
  workload: _,
  team: _team,
  queue: _queue,
  costPerUnit: _unit,
  costs,
  wasteCosts,
  ...amounts
}: JobRow) => ({
  ...amounts,
  costs: new Map(Object.entries(costs)),
  wasteCosts: new Map(Object.entries(wasteCosts)),
});

function answerOf(db: DatabaseSync, query: JobsQuery): JobsAnswer {
  const result = queryJobs(db, query);
  if (!result.ok) throw new Error(result.error);
  return result.answer;
}

const largest = (costs: ReadonlyMap<string, number>): number => Math.max(0, ...costs.values());

describe("the jobs of a window, beside a naive twin", () => {
  it("are as many, cost the same, and the lists are those that cost and wasted most", () => {
    const query = fc.record({
      begin: fc.integer({ min: 0, max: 5 }),
      length: fc.integer({ min: 1, max: 5 }),
      team: fc.constantFrom(null, "a", "__proto__", "nobody"),
      limit: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(fc.array(allocated, { maxLength: 60 }), query, (all, { begin, length, team, limit }) => {
        const db = ledgerWith(all);
        const from = start + begin * day;
        const answer = answerOf(db, { from, to: from + length * day, team, limit });
        db.close();
        const rows = all.filter(
          (row) => row.day >= begin && row.day < begin + length && (team === null || row.team === team),
        );
        const jobs = Map.groupBy(rows, ({ name }) => name);
        expect(answer.count).toBe(jobs.size);
        expect(answer.gpuSeconds).toBe(gpuSeconds(rows));
        expect(new Map(Object.entries(answer.costs))).toEqual(costsOf(rows));
        const teams = Map.groupBy(rows, (row) => row.team ?? "");
        const counts = [...teams].map(([name, of]) => [name, new Set(of.map((row) => row.name)).size] as const);
        expect(answer.countByTeam).toEqual(new Map(counts));
        for (const job of [...answer.byCost, ...answer.byWaste]) {
          const own = jobs.get(job.workload.name) ?? [];
          expect(shown(job)).toEqual(naiveJob(own));
          const holders = Map.groupBy(own, (row) => JSON.stringify([row.team, row.queue]));
          const most = Math.max(...[...holders.values()].map(gpuSeconds));
          expect(gpuSeconds(holders.get(JSON.stringify([job.team, job.queue])) ?? [])).toBe(most);
        }
        // Of equal ones any may be shown: their ranks are what is compared.
        const truth = [...jobs.values()].map(naiveJob);
        const ranks = (of: typeof truth, costs: "costs" | "wasteCosts", amount: "gpuSeconds" | "wastedGpuSeconds") =>
          of
            .map((job) => [largest(job[costs]), job[amount]] as const)
            .sort((a, b) => b[0] - a[0] || b[1] - a[1])
            .slice(0, limit);
        const [byCost, byWaste] = [answer.byCost.map(shown), answer.byWaste.map(shown)];
        expect(ranks(byCost, "costs", "gpuSeconds")).toEqual(ranks(truth, "costs", "gpuSeconds"));
        const isWasting = truth.filter(({ wastedGpuSeconds }) => wastedGpuSeconds > 0);
        expect(ranks(byWaste, "wasteCosts", "wastedGpuSeconds")).toEqual(
          ranks(isWasting, "wasteCosts", "wastedGpuSeconds"),
        );
        expect(byCost.map(({ costs, gpuSeconds: of }) => [largest(costs), of])).toEqual(
          ranks(byCost, "costs", "gpuSeconds"),
        );
      }),
      { seed: 7, numRuns: 100 },
    );
  });

  it("names a job once that came back after days in which nobody knew it", () => {
    const one = { team: "a", queue: null, state: "active", currency: "USD", gpuSeconds: 100, cost: 1 };
    const db = ledgerWith([
      { ...one, day: 0, id: 3, name: nameOf(3) },
      { ...one, day: 4, id: 7, name: nameOf(7) },
      { ...one, day: 4, id: 5, name: nameOf(5) },
    ]);
    const { count, byCost } = answerOf(db, { from: start, to: start + 7 * day, team: null, limit: 10 });
    db.close();
    expect(count).toBe(2);
    expect(byCost.map(({ workload, gpuSeconds: of }) => [workload.name, of])).toEqual([
      ["job-3", 200],
      ["job-5", 100],
    ]);
  });
});

describe("a question about jobs that cannot be answered", () => {
  const db = ledgerWith([]);
  it.each([
    [{ from: start + day, to: start }, "before it begins"],
    [{ from: start + 3600, to: start + day }, "cuts a day"],
    [{ from: start + 1, to: start + day }, "cuts an hour"],
  ])("%j", (window, error) => {
    expect(queryJobs(db, { ...window, team: null, limit: 1 })).toMatchObject({
      ok: false,
      fault: "question",
      error: expect.stringContaining(error),
    });
  });

  it("of days whose workloads are not kept any more", () => {
    const old = ledgerWith([
      {
        day: 5,
        id: 1,
        name: nameOf(1),
        team: "a",
        queue: null,
        state: "active",
        currency: null,
        gpuSeconds: 1,
        cost: 0,
      },
    ]);
    old.exec(`INSERT INTO gpu_time VALUES (0, ${firstDay * 24}, 0, 1, 0, 0, NULL, NULL)`);
    const result = queryJobs(old, { from: start, to: start + 7 * day, team: null, limit: 1 });
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringContaining("not kept any more: the oldest are of 2026-11-07"),
    });
    expect(queryJobs(old, { from: start + day, to: start + 7 * day, team: null, limit: 1 })).toMatchObject({
      ok: true,
    });
    old.close();
  });
});
