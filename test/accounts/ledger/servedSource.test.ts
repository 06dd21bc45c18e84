import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { mergeEntries, withoutPostings } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { migrate } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { parseLedgerTableQuery } from "../../../exporter/accounts/ledger/parseLedgerTableQuery.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import type { ServedTime } from "../../../exporter/accounts/servedTime.ts";
import { entry, posting, start } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";

const day = Math.floor(start / 86_400);

const of = (parts: Partial<ServedTime>): ServedTime => ({
  ...{ day, kind: "Deployment", namespace: "chat", name: "llm", team: "a", currency: null, cost: null },
  ...{ requests: 0, promptTokens: null, generatedTokens: null, gpuSeconds: 0, uncountedGpuSeconds: 0 },
  ...parts,
});
/** Ten requests, and a GPU-hour for 4 USD. */
const done = (parts: Partial<ServedTime> = {}) =>
  of({ requests: 10, promptTokens: 900, generatedTokens: 500, ...parts });
const paid = (parts: Partial<ServedTime> = {}) => of({ currency: "USD", cost: 4, gpuSeconds: 3600, ...parts });

function ask(db: DatabaseSync, groupBy: readonly string[], values = {}) {
  const result = queryLedgerTable(db, question("serving", { groupBy, ...values }));
  if (!result.ok) throw new Error(result.error);
  return result.answer;
}

const amountsOf = (...servedTimes: readonly ServedTime[]) =>
  ask(ledgerOf([entry({ servedTimes })]), ["workload"]).totals;

describe("what workloads served, in the ledger", () => {
  test("is added up by day, with tokens per GPU-hour and the cost of a million", () => {
    const db = ledgerOf([
      entry({ servedTimes: [done(), paid()] }),
      entry({ from: start + 30, servedTimes: [done({ generatedTokens: 1500 }), paid()] }),
      entry({
        from: start + 86_400,
        servedTimes: [done({ day: day + 1 }), paid({ day: day + 1, gpuSeconds: 1800, cost: 2 })],
      }),
    ]);
    expect(ask(db, ["day", "workload"]).rows.map(({ values, amounts }) => [values[1], amounts])).toEqual([
      [
        "Deployment/chat/llm",
        {
          ...{ requests: 20, promptTokens: 1800, generatedTokens: 2000, gpuSeconds: 7200, pricedGpuSeconds: 7200 },
          ...{ cost: 8, tokensPerGpuHour: 1000, costPerMillionTokens: 4000 },
        },
      ],
      [
        "Deployment/chat/llm",
        {
          ...{ requests: 10, promptTokens: 900, generatedTokens: 500, gpuSeconds: 1800, pricedGpuSeconds: 1800 },
          ...{ cost: 2, tokensPerGpuHour: 1000, costPerMillionTokens: 4000 },
        },
      ],
    ]);
  });

  test("has no tokens where a part of them is not counted, and none is not nothing", () => {
    const uncounted = paid({ uncountedGpuSeconds: 3600 });
    const unknown = { promptTokens: null, generatedTokens: null, tokensPerGpuHour: null, costPerMillionTokens: null };
    expect(amountsOf(done({ promptTokens: null, generatedTokens: null }), uncounted)).toMatchObject(unknown);
    expect(amountsOf(done(), paid(), done(), uncounted)).toMatchObject({ requests: 20, ...unknown });
    const still = amountsOf(done({ requests: 0, promptTokens: 0, generatedTokens: 0 }), paid());
    expect(still).toMatchObject({ generatedTokens: 0, tokensPerGpuHour: 0, costPerMillionTokens: null });
  });

  test("has no cost of a million where a part has no price, or in two currencies", () => {
    expect(amountsOf(done(), paid(), of({ gpuSeconds: 30 }))).toMatchObject({ cost: 4, costPerMillionTokens: null });
    expect(amountsOf(done(), paid(), paid({ currency: "EUR" }))).toMatchObject({
      cost: null,
      costPerMillionTokens: null,
    });
  });

  test("is the same when entries wait and are written as one, and gone with postings that could not be kept", () => {
    const [one, other] = [
      entry({ servedTimes: [done(), paid()] }),
      entry({ from: start + 30, servedTimes: [done({ generatedTokens: null }), paid(), done({ name: "b" })] }),
    ];
    const merged = mergeEntries(packEntry(one), packEntry(other));
    expect(merged.servedTimes).toEqual([
      done({ requests: 20, promptTokens: 1800 }),
      paid({ gpuSeconds: 7200, cost: 8 }),
      done({ name: "b" }),
    ]);
    expect(withoutPostings(merged).servedTimes).toEqual([]);
  });

  test("is asked by whole days, as workloads are kept", () => {
    const db = ledgerOf([entry({ servedTimes: [done()] })]);
    expect(queryLedgerTable(db, question("serving", { from: start + 3600 }))).toMatchObject({
      ok: false,
      error: expect.stringContaining("workloads are kept by day"),
    });
    const text = { from: null, to: null, last: null, by: "workload", where: [], limit: 10 };
    expect(parseLedgerTableQuery("serving", text, start + 90_000)).toMatchObject({ ok: true });
  });

  test("is checked: nothing of it is below 0, and money has a currency", () => {
    expect(checkLedger(ledgerOf([entry({ servedTimes: [done(), paid()] })])).wrong).toEqual([]);
    for (const wrong of [done({ requests: -1 }), paid({ cost: null }), of({ cost: 3 })])
      expect(checkLedger(ledgerOf([entry({ servedTimes: [wrong] })])).wrong).toHaveLength(1);
  });

  test("is kept as long as workloads are", () => {
    const db = ledgerOf([
      entry({ to: start + 3600, servedTimes: [done()] }),
      entry({
        from: start + 50 * 86_400,
        to: start + 50 * 86_400 + 3600,
        postings: [posting()],
        servedTimes: [done({ day: day + 50 })],
      }),
    ]);
    const retention = createRetention(db, { hourlyDays: 400, dailyDays: 400, workloadDays: 40 });
    while (retention.slice());
    expect(db.prepare("SELECT day FROM served_time").all()).toEqual([{ day: day + 50 }]);
  });

  test("begins with version 10: a ledger of version 9 has none, and loses nothing", () => {
    const old = new DatabaseSync(":memory:");
    migrate(old, ledgerMigrations.slice(0, 9));
    old.exec("INSERT INTO workload_time VALUES (0, 1, 1, 240, 0, 0, NULL, NULL)");
    migrate(old, ledgerMigrations);
    expect(ask(old, ["workload"]).totalRows).toBe(0);
    expect(old.prepare("SELECT gpu_seconds FROM workload_time").get()).toEqual({ gpu_seconds: 240 });
  });
});
