import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TopologyTime } from "../../../exporter/accounts/capacityTime.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { migrate } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import { checkMerged } from "./checkMerged.ts";
import { entry, start, topologyTime } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";

const hour = 3600;
const day = 86_400;

/** Entries of half an hour with some levels, of which some have names that only look alike. */
const lives = fc
  .array(
    fc.record({
      skipped: fc.integer({ min: 0, max: 30 }),
      levels: fc.uniqueArray(
        fc.record({
          pool: fc.constantFrom("h100", "h100 a"),
          level: fc.constantFrom("rack", "a rack", "__proto__"),
          seconds: fc.integer({ min: 1, max: 1800 }),
          sizes: fc.integer({ min: 0, max: 6 }),
        }),
        { selector: ({ pool, level }) => JSON.stringify([pool, level]), maxLength: 4 },
      ),
    }),
    { maxLength: 8 },
  )
  .map((steps) => {
    let at = start;
    return steps.map(({ skipped, levels }) => {
      at += skipped * hour;
      const from = at;
      at += hour / 2;
      const topology = levels.map(({ sizes, ...level }) => ({
        ...level,
        hour: Math.floor(from / hour) * hour,
        fitted: [0, 1, 2, 3, 4, 5].map((i) => (i < sizes ? level.seconds : 0)),
      }));
      return entry({ from, to: at, capacity: { topology } });
    });
  });

function ask(db: DatabaseSync, groupBy: readonly string[]) {
  const result = queryLedgerTable(db, question("topology", { groupBy }));
  if (!result.ok) throw new Error(result.error);
  return result.answer;
}

const total = (rows: readonly TopologyTime[], of: (row: TopologyTime) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0);

describe("how long gangs fitted", () => {
  test("is the sum of what was appended, by pool and level", () => {
    let compared = 0;
    fc.assert(
      fc.property(lives, (entries) => {
        const db = ledgerOf(entries);
        const rows = entries.flatMap(({ step }) => step.capacity.topology);
        const expected = new Map(
          [...Map.groupBy(rows, ({ pool, level }) => JSON.stringify([pool, level]))].map(([key, of]) => [
            key,
            {
              fitted8: total(of, ({ fitted }) => fitted[0] ?? 0),
              fitted16: total(of, ({ fitted }) => fitted[1] ?? 0),
              fitted32: total(of, ({ fitted }) => fitted[2] ?? 0),
              fitted64: total(of, ({ fitted }) => fitted[3] ?? 0),
              fitted128: total(of, ({ fitted }) => fitted[4] ?? 0),
              fitted256: total(of, ({ fitted }) => fitted[5] ?? 0),
              seconds: total(of, ({ seconds }) => seconds),
            },
          ]),
        );
        const found = ask(db, ["pool", "level"]).rows;
        expect(new Map(found.map(({ values, amounts }) => [JSON.stringify(values), amounts]))).toEqual(expected);
        expect(checkLedger(db).wrong).toEqual([]);
        compared += expected.size;
      }),
      { numRuns: 40, seed: 20_261_128 },
    );
    expect(compared).toBeGreaterThan(100);
  });

  test("is the same when entries were merged before they were written", () => {
    fc.assert(fc.property(lives, checkMerged), { numRuns: 40, seed: 20_261_129 });
  });

  test("can be asked for single hours", () => {
    const two = [start, start + hour].map((at) =>
      entry({ from: at, to: at + hour, capacity: { topology: [topologyTime({ hour: at })] } }),
    );
    const db = ledgerOf(two);
    const result = queryLedgerTable(db, { ...question("topology"), from: start + hour, to: start + 2 * hour });
    expect(result).toMatchObject({ ok: true, answer: { totals: { fitted16: 1800, fitted32: 600, seconds: 1800 } } });
  });

  test("has no row without topology", () => {
    const db = ledgerOf([entry()]);
    expect(ask(db, ["pool", "level"])).toMatchObject({ rows: [], totalRows: 0 });
    expect(db.prepare("SELECT count(*) AS n FROM topology_time").get()).toEqual({ n: 0 });
  });

  test("is pruned with the other sums by hour", () => {
    const later = start + 30 * day;
    const db = ledgerOf(
      [start, later - 9 * day, later].map((from) =>
        entry({ from, to: from + hour, capacity: { topology: [topologyTime({ hour: from })] } }),
      ),
    );
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    while (retention.slice());
    expect(db.prepare("SELECT count(*) AS n FROM topology_time").get()).toEqual({ n: 2 });
  });

  test.each([
    ["UPDATE topology_time SET fitted_256_seconds = seconds + 1"],
    ["UPDATE topology_time SET fitted_8_seconds = -1"],
    ["UPDATE topology_time SET seconds = 0"],
  ])("is checked: %s", (sql) => {
    const db = ledgerOf([entry({ capacity: { topology: [topologyTime()] } })]);
    expect(checkLedger(db).wrong).toEqual([]);
    db.exec(sql);
    expect(checkLedger(db).wrong).toEqual([expect.stringContaining("level rack of pool h100 contradict")]);
  });

  test("begins with version 12: a ledger of version 11 has none, and loses nothing", () => {
    const old = new DatabaseSync(":memory:");
    migrate(old, ledgerMigrations.slice(0, 11));
    old.exec("INSERT INTO pool_time VALUES (0, 1, 'h100', 240)");
    migrate(old, ledgerMigrations);
    expect(ask(old, ["level"]).totalRows).toBe(0);
    expect(old.prepare("SELECT physical_gpu_seconds FROM pool_time").get()).toEqual({ physical_gpu_seconds: 240 });
  });
});
