import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { migrate } from "../../../exporter/accounts/ledger/openForWriting.ts";
import { queryLedgerTable } from "../../../exporter/accounts/ledger/queryLedgerTable.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerApplicationId, ledgerMigrations, ledgerVersion } from "../../../exporter/accounts/ledger/schema.ts";
import { endedWait, entry, keepAll, queueTime, seenEviction, start } from "./entries.ts";
import { ledgerOf, question } from "./memoryLedger.ts";
import { openLedger, temporaryFile } from "./temporaryFolder.ts";

const hour = 3600;
const day = 86_400;

describe("a window that cuts what is kept is refused", () => {
  const db = ledgerOf([
    entry({ from: start, to: start + hour, queueTimes: [queueTime()] }),
    entry({ from: start + 20 * day, to: start + 20 * day + hour }),
  ]);
  const retention = createRetention(db, { ...keepAll, hourlyDays: 14 });
  while (retention.slice());

  test.each([
    ["half an hour", question("evictions", { from: start + 1800 }), "cuts an hour"],
    ["half a folded day", question("queues", { from: start + hour }), "cuts 2026-11-02"],
    ["the hours of a folded day", question("queues", { groupBy: ["hour"] }), "are folded into days"],
    ["half a day of waits", question("waits", { from: start + hour }), "kept by day"],
    ["nothing", question("waits", { to: start }), "before it begins"],
  ])("%s", (_what, query, error) => {
    expect(queryLedgerTable(db, query)).toMatchObject({
      ok: false,
      fault: "question",
      error: expect.stringContaining(error),
    });
  });
});

describe("what is past its time", () => {
  test("is pruned, with the names that nothing uses any more", () => {
    const later = start + 30 * day;
    const db = ledgerOf([
      entry({ to: start + hour, queueTimes: [queueTime()], waits: [endedWait()], evictions: [seenEviction()] }),
      entry({
        from: later,
        to: later + hour,
        queueTimes: [queueTime({ hour: later, queue: "new" })],
        waits: [endedWait({ endedAt: later, queue: "new" })],
        evictions: [seenEviction({ key: "new", at: later })],
      }),
    ]);
    const retention = createRetention(db, { hourlyDays: 5, dailyDays: 10, workloadDays: 10 });
    while (retention.slice()) expect(checkLedger(db).wrong).toEqual([]);
    const counts = ["queue_time", "queues", "waits", "wait_groups", "evictions"].map(
      (table) => db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n,
    );
    expect(counts).toEqual([1, 1, 1, 1, 1]);
    expect(checkLedger(db).rows).toMatchObject({ queues: 1, waits: 1, evictions: 1 });
  });
});

describe("a check finds", () => {
  test.each([
    ["UPDATE queue_time SET entitled_gpu_seconds = 99999", "the sums of queue research in h100 contradict each other"],
    [
      "UPDATE queue_time SET judged_allocated_gpu_seconds = 0",
      "the sums of queue research in h100 contradict each other",
    ],
    ["UPDATE queue_time SET excess_gpu_seconds = 3600", "the sums of queue research in h100 contradict each other"],
    ["UPDATE queue_time SET pending_gpu_seconds = -1", "the sums of queue research in h100 contradict each other"],
    ["DELETE FROM queues", "1 rows of queue_time name a row of queues that is not there"],
    ["DELETE FROM wait_groups", "1 rows of waits name a row of wait_groups that is not there"],
  ])("%s", (sql, wrong) => {
    const db = ledgerOf([entry({ queueTimes: [queueTime()], waits: [endedWait()] })]);
    expect(checkLedger(db).wrong).toEqual([]);
    db.exec(sql);
    expect(checkLedger(db).wrong).toEqual([expect.stringContaining(wrong)]);
  });
});

test("a check finds nothing wrong with a queue that misses more than its entitlement", () => {
  const allocated = { allocated: 7200, judgedAllocated: 7200, entitled: 7200, shortfallByBorrowers: 0 };
  const db = ledgerOf([entry({ queueTimes: [queueTime({ ...allocated, shortfallByLostNode: 3600 })] })]);
  expect(checkLedger(db).wrong).toEqual([]);
});

test("a file of version 5 keeps its deviation, and says nothing about causes that it did not distinguish", async () => {
  const file = temporaryFile();
  const old = new DatabaseSync(file);
  old.exec(`PRAGMA application_id = ${ledgerApplicationId}`);
  migrate(old, ledgerMigrations.slice(0, 5));
  // 2 GPU-hours entitled, half an hour above it in one class, and 1 GPU-hour short by others in another.
  old.exec(`
    INSERT INTO intervals (begins, ends, seconds, gap) VALUES (${start}, ${start + hour}, ${hour}, NULL);
    INSERT INTO queues VALUES (1, 'kueue', 'ClusterQueue', 'research', 'h100', 'a', ${start / day});
    INSERT INTO queue_time (daily, hour, queue, seconds, judged_seconds, held_gpu_seconds, entitled_gpu_seconds,
      excess_gpu_seconds, short_by_others_gpu_seconds, short_by_idle_gap_gpu_seconds, pending_gpu_seconds)
    VALUES (0, ${start / hour}, 1, 3600, 3600, 5400, 7200, 1800, 3600, 0, 3600)`);
  old.close();
  const ledger = await openLedger(file);
  const reader = createLedgerReader(file);
  const ask = () => reader.queryLedgerTable(question("queues", { groupBy: ["queue"], to: start + 2 * hour }));
  const before = { allocated: 5400, judgedAllocated: 5400, deviationRatio: -0.25, shortfallByBorrowers: 3600 };
  expect(await ask()).toMatchObject({
    answer: { rows: [{ amounts: { ...before, shortfallByAbsentCapacity: null, shortfallByIndivisible: null } }] },
  });
  const lost = { shortfallByLostNode: 900, shortfallByPastQueues: 300, shortfallByIndivisible: 60 };
  ledger.append(entry({ from: start + hour, to: start + hour + 1800, queueTimes: [queueTime(lost)] }));
  await ledger.flush();
  const absent = { shortfallByLostNode: 900, shortfallByNodeToCome: 0, shortfallByAbsentCapacity: 1200 };
  expect(await ask()).toMatchObject({
    answer: {
      rows: [{ amounts: { allocated: 10_800, judgedAllocated: 10_800, ...absent, shortfallByIndivisible: 60 } }],
    },
  });
  await reader.close();
  const db = new DatabaseSync(file, { readOnly: true });
  expect(checkLedger(db).wrong).toEqual([]);
  db.close();
});

test("a file of version 1 gets the tables of queues, and takes entries with them", async () => {
  const file = temporaryFile();
  const old = new DatabaseSync(file);
  old.exec(readFileSync(fileURLToPath(new URL("version1.sql", import.meta.url)), "utf8"));
  old.close();
  const ledger = await openLedger(file);
  ledger.append(
    entry({ from: start + 30, queueTimes: [queueTime()], waits: [endedWait()], evictions: [seenEviction()] }),
  );
  await ledger.flush();
  expect(ledger.problems()).toEqual([]);
  const reader = createLedgerReader(file);
  expect(await reader.queryLedgerTable(question("queues", { groupBy: ["queue"] }))).toMatchObject({
    ok: true,
    answer: { rows: [{ values: ["research"], amounts: { allocated: 5400, deviationRatio: -0.25 } }] },
  });
  expect(await reader.queryLedgerTable(question("waits"))).toMatchObject({
    ok: true,
    answer: { totals: { waits: 1 } },
  });
  expect(await reader.query({ ...question("queues"), groupBy: [], where: new Map() })).toMatchObject({ ok: true });
  await reader.close();
  const db = new DatabaseSync(file, { readOnly: true });
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: ledgerVersion });
  expect(checkLedger(db).wrong).toEqual([]);
  db.close();
});
