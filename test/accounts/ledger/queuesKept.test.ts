import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { createLedgerReader } from "../../../exporter/accounts/ledger/ledgerReader.ts";
import { querySideBook } from "../../../exporter/accounts/ledger/querySideBook.ts";
import { createRetention } from "../../../exporter/accounts/ledger/retention.ts";
import { ledgerVersion } from "../../../exporter/accounts/ledger/schema.ts";
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
    expect(querySideBook(db, query)).toMatchObject({
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
  expect(await reader.querySideBook(question("queues", { groupBy: ["queue"] }))).toMatchObject({
    ok: true,
    answer: { rows: [{ values: ["research"], amounts: { held: 5400, deviationRatio: -0.25 } }] },
  });
  expect(await reader.querySideBook(question("waits"))).toMatchObject({ ok: true, answer: { totals: { waits: 1 } } });
  expect(await reader.query({ ...question("queues"), groupBy: [], where: new Map() })).toMatchObject({ ok: true });
  await reader.close();
  const db = new DatabaseSync(file, { readOnly: true });
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: ledgerVersion });
  expect(checkLedger(db).wrong).toEqual([]);
  db.close();
});
