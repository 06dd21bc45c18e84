import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backupLedger } from "../../../exporter/accounts/ledger/backupLedger.ts";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { createEntryWriter } from "../../../exporter/accounts/ledger/entryWriter.ts";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { mergeEntries } from "../../../exporter/accounts/ledger/mergeEntries.ts";
import { packEntry } from "../../../exporter/accounts/ledger/packedEntry.ts";
import type { PriceQuery } from "../../../exporter/accounts/ledger/priceQuery.ts";
import { queryPrices } from "../../../exporter/accounts/ledger/priceQuery.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerMigrations, ledgerVersion } from "../../../exporter/accounts/ledger/schema.ts";
import type { NodeTime, UsedPrice } from "../../../exporter/accounts/posting.ts";
import { account, cycleEntry, entry, keepAll, posting, start } from "./entries.ts";
import { ledgerOf } from "./memoryLedger.ts";
import { totalsOfEntries, totalsOfLedger } from "./naiveTotals.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const hour = 3600;
const day = 86_400;

/** Two node-hours of the account of entries.ts. */
function nodeTime(values: Partial<NodeTime> = {}): NodeTime {
  return {
    hour: start,
    pool: "h100",
    nodePool: "gpu",
    capacityType: "on-demand",
    state: "ready",
    nodeSeconds: 7200,
    currency: "USD",
    cost: 0.025,
    ...values,
  };
}

function usedPrice(values: Partial<UsedPrice> = {}): UsedPrice {
  return {
    pool: "h100",
    nodePool: "gpu",
    instanceType: "p5.48xlarge",
    capacityType: "on-demand",
    currency: "USD",
    basis: "whole-instance",
    source: "file",
    dated: start,
    perGpuHour: 3,
    ...values,
  };
}

const unpriced: Partial<UsedPrice> = { currency: null, basis: null, source: null, dated: null, perGpuHour: null };

const everything: PriceQuery = { from: start, to: start + 100 * day, where: new Map(), limit: 1000 };

function usesIn(db: DatabaseSync, query: Partial<PriceQuery> = {}): readonly (readonly (number | null)[])[] {
  const result = queryPrices(db, { ...everything, ...query });
  if (!result.ok) throw new Error(result.error);
  return result.answer.rows.map(({ perGpuHour, begins, ends }) => [
    perGpuHour,
    begins - start,
    ends === null ? null : ends - start,
  ]);
}

describe("the log of prices", () => {
  const first = entry({ prices: { since: start, prices: [usedPrice(), usedPrice({ nodePool: "b", perGpuHour: 7 })] } });
  const dearer = entry({
    from: start + 60,
    prices: { since: start + 60, prices: [usedPrice({ perGpuHour: 4 }), usedPrice({ nodePool: "b", perGpuHour: 7 })] },
  });
  const none = entry({ from: start + 120, prices: { since: start + 120, prices: [usedPrice(unpriced)] } });

  test("says from when to when each was used", () => {
    const db = ledgerOf([first, dearer, none]);
    const uses = [
      [7, 0, 120],
      [3, 0, 60],
      [4, 60, 120],
      [null, 120, null],
    ];
    expect(new Set(usesIn(db).map(String))).toEqual(new Set(uses.map(String)));
    expect(usesIn(db, { from: start + 60, to: start + 120, where: new Map([["nodePool", ["gpu"]]]) })).toEqual([
      [4, 60, 120],
    ]);
    expect(usesIn(db, { where: new Map([["currency", [null]]]) })).toEqual([[null, 120, null]]);
  });

  test("is the same when entries were merged before they were written", () => {
    const db = ledgerOf([]);
    createEntryWriter(db).write(1, [first, dearer, none].map(packEntry).reduce(mergeEntries));
    expect(usesIn(db)).toEqual(usesIn(ledgerOf([first, dearer, none])));
  });

  test("goes on over a restart, with the date with which a price came into use", () => {
    const again = entry({
      from: start + 600,
      prices: {
        since: start + 600,
        prices: [usedPrice({ dated: start + 500 }), usedPrice({ nodePool: "b", perGpuHour: 7 })],
      },
    });
    const db = ledgerOf([first, again]);
    expect(usesIn(db)).toEqual([
      [7, 0, null],
      [3, 0, null],
    ]);
  });

  test("ends nothing before it began, when a clock was set back", () => {
    const back = entry({ from: start - 300, prices: { since: start - 300, prices: [usedPrice({ perGpuHour: 4 })] } });
    expect(usesIn(ledgerOf([first, back]), { from: start - day, where: new Map([["nodePool", ["gpu"]]]) })).toEqual([
      [4, -300, null],
      [3, 0, 0],
    ]);
  });

  test("is pruned with the sums that it explains", () => {
    const later = start + 30 * day;
    const db = ledgerOf([
      first,
      dearer,
      entry({ from: later, to: later + hour, postings: [posting({ hour: later })] }),
    ]);
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    while (retention.slice()) expect(checkLedger(db).wrong).toEqual([]);
    expect(usesIn(db)).toEqual([
      [7, 0, null],
      [4, 60, null],
    ]);
  });
});

describe("a check of costs finds", () => {
  test.each([
    ["UPDATE gpu_time SET cost = NULL", "rows of gpu_time have a cost without a currency, none with one"],
    ["UPDATE workload_time SET cost = -1", "rows of workload_time have a cost without a currency"],
    ["UPDATE node_groups SET currency = NULL", "rows of node_time have a cost without a currency"],
    [
      "UPDATE node_time SET cost = cost * 1.001",
      "the costs of node pool gpu do not close in the hour from 2026-11-02T00:00",
    ],
  ])("%s", (sql, wrong) => {
    const db = ledgerOf([entry({ nodeTimes: [nodeTime()] })]);
    expect(checkLedger(db).wrong).toEqual([]);
    db.exec(sql);
    expect(checkLedger(db).wrong).toContainEqual(expect.stringContaining(wrong));
  });
});

test("costs of generated cycles are what was written, merged or not, and by day after folding", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(60), { minLength: 1, maxLength: 20 }), (steps) => {
      let from = start;
      const entries = steps.map((skip, n) => {
        from += 30 + skip * hour;
        const nodeTimes = [null, "USD", "EUR"].map((currency) =>
          nodeTime({
            hour: Math.floor(from / hour) * hour,
            nodePool: "own",
            currency,
            cost: currency === null ? null : n,
          }),
        );
        return { ...cycleEntry(n, from, 12), step: { ...cycleEntry(n, from, 12).step, nodeTimes } };
      });
      const db = ledgerOf(entries);
      expect(totalsOfLedger(db)).toEqual(totalsOfEntries(entries));
      const byCurrency = (): readonly unknown[] =>
        ["gpu_time t JOIN accounts d ON d.id = t.account", "node_time t JOIN node_groups d ON d.id = t.node_group"].map(
          (from) =>
            db
              .prepare(`SELECT currency, sum(t.cost) AS c FROM ${from} GROUP BY 1, t.hour / 24 ORDER BY t.hour / 24, 1`)
              .all(),
        );
      const before = byCurrency();
      const retention = createRetention(db, { ...keepAll, hourlyDays: 0 });
      while (retention.slice());
      expect(byCurrency()).toEqual(before);
      expect(checkLedger(db).wrong).toEqual([]);
      db.close();
    }),
    { seed: 5, numRuns: 40 },
  );
});

/** A ledger as the version before the one with costs wrote it: two hours, one of them by day, and node time. */
function writeVersion2(file: string): void {
  const old = new DatabaseSync(file);
  old.exec(readFileSync(fileURLToPath(new URL("version1.sql", import.meta.url)), "utf8"));
  old.exec(ledgerMigrations[1] ?? "");
  old.exec(`INSERT INTO node_groups VALUES (77, 'h100', 'gpu', 'on-demand', 'ready', ${Math.floor(start / day)});
    INSERT INTO node_time VALUES (0, ${start / hour}, 77, 3600);
    PRAGMA user_version = 2`);
  old.close();
}

test("a ledger from before there were costs keeps its time, unpriced, and new time of the same account is apart from it", async () => {
  const file = temporaryFile();
  writeVersion2(file);
  const old = new DatabaseSync(file, { readOnly: true });
  const sum = "SELECT sum(gpu_seconds) AS s FROM gpu_time";
  const before = Number(old.prepare(sum).get()?.s);
  const keys = old
    .prepare("SELECT pool, node_pool, capacity_type, team, queue, namespace, priority_class FROM accounts")
    .get();
  old.close();
  expect(before).toBeGreaterThan(0);
  const same = {
    ...account(),
    pool: String(keys?.pool),
    nodePool: String(keys?.node_pool),
    team: String(keys?.team),
  };
  const ledger = await openLedger(file);
  const at = start + 400 * day;
  ledger.append(
    entry({
      from: at,
      to: at + hour,
      postings: [
        posting({ hour: at, account: same }),
        posting({ hour: at, account: { ...same, currency: null }, cost: null }),
      ],
      nodeTimes: [nodeTime({ hour: at, nodePool: same.nodePool })],
      prices: { since: at, prices: [usedPrice()] },
    }),
  );
  await ledger.flush();
  expect(ledger.problems()).toEqual([]);
  const reader = createLedgerReader(file);
  const window = { from: 0, to: at + day, where: new Map(), limit: 100 };
  const answer = await reader.query({ ...window, groupBy: ["currency"] });
  expect(answer).toMatchObject({
    ok: true,
    answer: { totals: { gpuSeconds: before + 60, pricedGpuSeconds: 30, cost: 0.025 } },
  });
  expect(answer.ok && answer.answer.rows.map(({ values, cost }) => [values[0], cost]).sort()).toEqual([
    [null, null],
    ["USD", 0.025],
  ]);
  expect(await reader.queryPrices({ ...everything, to: at + day })).toMatchObject({
    ok: true,
    answer: { totalRows: 1 },
  });
  await reader.close();
  const copy = `${file}.copy`;
  expect(backupLedger(file, copy)).toBeNull();
  for (const path of [file, copy]) {
    const db = new DatabaseSync(path, { readOnly: true });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: ledgerVersion });
    expect(db.prepare("SELECT node_seconds, cost FROM node_time WHERE node_group = 77").get()).toEqual({
      node_seconds: 3600,
      cost: null,
    });
    expect(checkLedger(db).wrong).toEqual([]);
    db.close();
  }
});
