import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { HealthTime } from "../../../exporter/accounts/healthTime.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { mergeEntries, withoutPostings } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { migrate } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import { entry, start } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";

const hour = Math.floor(start / 3600) * 3600;

function lost(parts: Partial<HealthTime> = {}): HealthTime {
  const where = { pool: "h100", nodePool: "train", team: "ads", currency: "USD" };
  return { hour, ...where, cause: "ecc", gpuSeconds: 30, cost: 0.5, ...parts };
}

function ask(db: DatabaseSync, groupBy: readonly string[], where: ReadonlyMap<string, readonly string[]> = new Map()) {
  const result = queryLedgerTable(db, question("health", { groupBy, where }));
  if (!result.ok) throw new Error(result.error);
  return result.answer;
}

describe("GPU time by cause in the ledger", () => {
  const db = ledgerOf([
    entry({ healthTimes: [lost(), lost({ cause: "node", team: null, gpuSeconds: 240, currency: null, cost: null })] }),
    entry({ from: start + 30, healthTimes: [lost(), lost({ cause: "thermal", gpuSeconds: 60, cost: 1 })] }),
  ]);

  test("is added up, with what it cost and how much of it has a price", () => {
    expect(ask(db, ["cause", "team"]).rows).toEqual([
      { values: ["node", null], amounts: { gpuSeconds: 240, pricedGpuSeconds: 0, cost: null } },
      { values: ["ecc", "ads"], amounts: { gpuSeconds: 60, pricedGpuSeconds: 60, cost: 1 } },
      { values: ["thermal", "ads"], amounts: { gpuSeconds: 60, pricedGpuSeconds: 60, cost: 1 } },
    ]);
  });

  test("can be asked for one cause", () => {
    expect(ask(db, ["day"], new Map([["cause", ["ecc"]]])).totals).toMatchObject({ gpuSeconds: 60, cost: 1 });
  });

  test("has no cost in two currencies", () => {
    const two = ledgerOf([entry({ healthTimes: [lost(), lost({ currency: "EUR" })] })]);
    expect(ask(two, ["cause"]).rows[0]?.amounts).toEqual({ gpuSeconds: 60, pricedGpuSeconds: 60, cost: null });
  });

  test("is the same when entries wait and are written as one, and gone with postings that could not be kept", () => {
    const [one, other] = [
      entry({ healthTimes: [lost()] }),
      entry({ from: start + 30, healthTimes: [lost(), lost({ cause: "node" })] }),
    ];
    const merged = mergeEntries(packEntry(one), packEntry(other));
    expect(merged.healthTimes.map(({ cause, gpuSeconds, cost }) => [cause, gpuSeconds, cost])).toEqual([
      ["ecc", 60, 1],
      ["node", 30, 0.5],
    ]);
    expect(withoutPostings(merged).healthTimes).toEqual([]);
  });

  test("is checked: nothing of it is below 0", () => {
    expect(checkLedger(db)).toEqual(checkLedger(ledgerOf([entry(), entry({ from: start + 30 })])));
    const broken = ledgerOf([entry({ healthTimes: [lost({ gpuSeconds: -1 })] })]);
    expect(checkLedger(broken)).not.toEqual(checkLedger(db));
  });

  test("begins with version 9: a ledger of version 8 has none, and loses nothing", () => {
    const old = new DatabaseSync(":memory:");
    migrate(old, ledgerMigrations.slice(0, 8));
    old.exec("INSERT INTO pool_time VALUES (0, 1, 'h100', 240)");
    migrate(old, ledgerMigrations);
    expect(ask(old, ["cause"]).totalRows).toBe(0);
    expect(old.prepare("SELECT physical_gpu_seconds FROM pool_time").get()).toEqual({ physical_gpu_seconds: 240 });
  });
});
