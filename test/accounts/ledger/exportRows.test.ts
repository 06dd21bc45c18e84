import type { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ExportQuery, ExportRow } from "../../../exporter/accounts/ledger/exportQuery.ts";
import { refuseExport } from "../../../exporter/accounts/ledger/exportQuery.ts";
import { exportRows } from "../../../exporter/accounts/ledger/exportRows.ts";
import type { Posting } from "../../../exporter/accounts/posting.ts";
import { allocatedStates, type GpuState, gpuStates } from "../../../exporter/model/gpuStates.ts";
import { account, entry, posting, start } from "./entries.ts";
import { ledgerOf as memoryLedger } from "./memoryLedger.ts";

const hour = 3600;
const day = 24 * hour;
const days = (from: number, to: number): ExportQuery => ({
  from: start + from * day,
  to: start + to * day,
  granularity: "day",
  charge: "allocation",
  notCharged: ["unavailable"],
});

function ledgerOf(postings: readonly Posting[], sql = ""): DatabaseSync {
  const db = memoryLedger([entry({ to: start + 3 * day, postings })]);
  db.exec(sql);
  return db;
}

const nobody = { team: null, queue: null, namespace: null, priorityClass: null };
const isAllocated = (state: GpuState): boolean => allocatedStates.some((allocated) => allocated === state);

/** A posting at one of two prices, or at none. */
const somePosting = fc
  .record({
    at: fc.integer({ min: 0, max: 71 }),
    state: fc.constantFrom(...gpuStates),
    team: fc.constantFrom("a", "b"),
    pool: fc.constantFrom("h100", "a100"),
    currency: fc.constantFrom("USD", "EUR", null),
    job: fc.integer({ min: 0, max: 3 }),
    gpuSeconds: fc.integer({ min: 1, max: 28_800 }),
  })
  .map(({ at, state, team, pool, currency, job, gpuSeconds }): Posting => {
    const allocated = isAllocated(state);
    const of = allocated ? { team, queue: team, namespace: team } : nobody;
    return posting({
      hour: start + at * hour,
      gpuSeconds,
      account: account({ ...of, state, pool, currency }),
      workload: allocated ? { kind: "Job", namespace: team, name: `job-${job}` } : null,
      cost: currency === null ? null : (gpuSeconds / hour) * 12.29,
    });
  });

function sumOf(rows: readonly ExportRow[], of: (row: ExportRow) => number): number {
  return rows.reduce((sum, row) => sum + of(row), 0);
}

describe("the rows of an export", () => {
  test("add up to the ledger, by day and by hour, for both charge bases, also where workloads are forgotten", () => {
    fc.assert(
      fc.property(
        fc.array(somePosting, { minLength: 1, maxLength: 60 }),
        fc.constantFrom("", "DELETE FROM workload_time", `DELETE FROM workload_time WHERE day = ${start / day + 1}`),
        fc.constantFrom("allocation" as const, "use" as const),
        fc.constantFrom("day" as const, "hour" as const),
        (postings, sql, charge, granularity) => {
          const db = ledgerOf(postings, sql);
          const rows = [...exportRows(db, { ...days(0, 3), charge, granularity })];
          db.close();
          expect(sumOf(rows, (row) => row.gpuSeconds)).toBeCloseTo(
            postings.reduce((sum, one) => sum + one.gpuSeconds, 0),
            3,
          );
          for (const currency of ["USD", "EUR", null]) {
            const own = rows.filter((row) => row.currency === currency);
            const accounted = postings.filter((one) => one.account.currency === currency);
            expect(sumOf(own, (row) => row.cost ?? 0)).toBeCloseTo(
              accounted.reduce((sum, one) => sum + (one.cost ?? 0), 0),
              4,
            );
            expect(own.every((row) => (row.cost === null) === (currency === null))).toBe(true);
          }
          const active = postings.filter((one) => one.account.state === "active");
          expect(sumOf(rows, (row) => row.activeGpuSeconds)).toBeCloseTo(
            active.reduce((sum, one) => sum + one.gpuSeconds, 0),
            3,
          );
          const paid = postings.filter(({ account: { state } }) =>
            charge === "use" ? state === "active" : isAllocated(state),
          );
          expect(
            sumOf(
              rows.filter((row) => row.isCharged),
              (row) => row.gpuSeconds,
            ),
          ).toBeCloseTo(
            paid.reduce((sum, one) => sum + one.gpuSeconds, 0),
            3,
          );
        },
      ),
      { seed: 5, numRuns: 100 },
    );
  });

  test("name workloads by day, put what a team pays into one row, and leave the rest to the platform by state", () => {
    const db = ledgerOf([
      posting({ gpuSeconds: 3600, cost: 10 }),
      posting({ gpuSeconds: 1800, cost: 5, account: account({ state: "idle" }) }),
      posting({ gpuSeconds: 900, cost: 2.5, account: account({ state: "unavailable" }) }),
      posting({ gpuSeconds: 7200, cost: 20, workload: null, account: account({ ...nobody, state: "free" }) }),
    ]);
    const shown = (query: ExportQuery) =>
      [...exportRows(db, query)].map(({ team, workload, state, isCharged, gpuSeconds, activeGpuSeconds, cost }) => [
        team,
        workload?.name ?? null,
        state,
        isCharged,
        gpuSeconds,
        activeGpuSeconds,
        cost,
      ]);
    expect(shown(days(0, 1))).toEqual([
      ["a", "train", "charged", true, 5400, 3600, 15],
      ["a", "train", "unavailable", false, 900, 0, 2.5],
      [null, null, "free", false, 7200, 0, 20],
    ]);
    expect(shown({ ...days(0, 1), charge: "use" }).map((row) => row.slice(1, 5))).toEqual([
      ["train", "charged", true, 3600],
      ["train", "idle", false, 1800],
      ["train", "unavailable", false, 900],
      [null, "free", false, 7200],
    ]);
    expect(shown({ ...days(0, 1), granularity: "hour" }).map((row) => row.slice(0, 3))).toEqual([
      ["a", null, "charged"],
      ["a", null, "unavailable"],
      [null, null, "free"],
    ]);
    db.close();
  });

  test("say at which kinds of prices they were counted", () => {
    const log = (basis: string, source: string, from: number, to: number | null) =>
      `INSERT INTO price_log (pool, node_pool, capacity_type, currency, basis, source, per_gpu_hour, begins, ends)
       VALUES ('h100', 'gpu', 'on-demand', 'USD', '${basis}', '${source}', 3, ${start + from * hour}, ${to === null ? "NULL" : start + to * hour});`;
    const db = ledgerOf(
      [posting(), posting({ hour: start + day })],
      log("whole-instance", "table", -5, 12) + log("whole-instance", "file", 12, null),
    );
    const facts = [...exportRows(db, days(0, 2))].map(({ priceBasis, priceSource }) => [priceBasis, priceSource]);
    expect(facts).toEqual([
      ["whole-instance", "file+table"],
      ["whole-instance", "file"],
    ]);
    db.close();
  });

  test("are refused for a window that cuts what is kept, with the one that can be asked for", () => {
    const db = ledgerOf([posting()]);
    expect(refuseExport(db, { ...days(0, 1), to: start + hour })?.nextStep).toContain("2026-11-02 to 2026-11-03");
    expect(refuseExport(db, { ...days(0, 1), to: start + hour, granularity: "hour" })).toBeNull();
    expect(refuseExport(db, { ...days(0, 1), from: start + 60, granularity: "hour" })?.error).toContain("cuts an hour");
    db.exec("UPDATE gpu_time SET daily = 1");
    expect(refuseExport(db, { ...days(0, 1), granularity: "hour" })?.error).toContain("folded into days");
    db.close();
  });
});
