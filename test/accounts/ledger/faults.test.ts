import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { HealthTime } from "../../../exporter/accounts/healthTime.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { mergeEntries, withoutPostings } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { migrate } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { ledgerMigrations } from "../../../exporter/accounts/ledger/schema.ts";
import type { Outage } from "../../../exporter/accounts/outageAccount.ts";
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

function outage(parts: Partial<Outage> = {}): Outage {
  const where = { node: "n1", gpu: "GPU-1", nodePool: "train", pool: "h100", teams: "ads" };
  return { ...where, cause: "ecc", gpus: 1, begins: start, ends: null, ...parts };
}

describe("outages in the ledger", () => {
  const day = 86_400;
  const db = ledgerOf([
    entry({
      to: start + 10 * day,
      outages: [
        outage({ ends: start + 7200 }),
        outage({ begins: start + day, ends: start + day + 3600 }),
        outage({ gpu: "", node: "n2", cause: "node", gpus: 8, teams: "", begins: start + 9 * day }),
      ],
    }),
  ]);
  const askOutages = (groupBy: readonly string[]) => {
    const result = queryLedgerTable(db, question("outages", { groupBy }));
    if (!result.ok) throw new Error(result.error);
    return result.answer;
  };

  test("say how often, how long, and after how long they were repaired", () => {
    expect(askOutages(["cause"]).rows.map(({ values, amounts }) => [values[0], amounts])).toEqual([
      [
        "node",
        {
          outages: 1,
          seconds: day,
          gpuSeconds: 8 * day,
          repaired: 0,
          meanRepairSeconds: null,
          longestSeconds: day,
          longestBegins: start + 9 * day,
          longestEnds: null,
        },
      ],
      [
        "ecc",
        {
          outages: 2,
          seconds: 10_800,
          gpuSeconds: 10_800,
          repaired: 2,
          meanRepairSeconds: 5400,
          longestSeconds: 7200,
          longestBegins: start,
          longestEnds: start + 7200,
        },
      ],
    ]);
  });

  test("name the GPU and who was hit; GPUs of a node that fail together have no name", () => {
    expect(askOutages(["node", "gpu", "teams"]).rows.map(({ values }) => values)).toEqual([
      ["n2", null, null],
      ["n1", "GPU-1", "ads"],
    ]);
  });

  test("of one GPU end at the latest when the next one begins, and a later report replaces an earlier one", () => {
    const later = ledgerOf([
      entry({ outages: [outage()] }),
      entry({ from: start + 30, outages: [outage({ cause: "gpu_lost", teams: "ads,vision" })] }),
      entry({ from: start + 60, outages: [outage({ begins: start + 4000 })] }),
    ]);
    expect(later.prepare("SELECT begins, ends, cause, teams FROM outages ORDER BY begins").all()).toEqual([
      { begins: start, ends: start + 4000, cause: "gpu_lost", teams: "ads,vision" },
      { begins: start + 4000, ends: null, cause: "ecc", teams: "ads" },
    ]);
    later.exec("UPDATE outages SET ends = begins - 1");
    expect(checkLedger(later).wrong.join(" ")).toContain("an outage of node n1 ends before it begins");
  });
});
