import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { Ledger, LedgerEntry } from "../../../exporter/accounts/ledger/ledger.ts";
import { queryAccounts } from "../../../exporter/accounts/ledger/queryAccounts.ts";
import type { Problem } from "../../../exporter/model/problem.ts";
import { cycleEntry, entry, posting, start } from "./entries.ts";
import { totalsOfEntries, totalsOfLedger } from "./naiveTotals.ts";
import { openLedger, temporaryFile, temporaryFolder } from "./temporaryFolder.ts";

const cycles = (from: number, to: number, rows?: number): readonly LedgerEntry[] =>
  Array.from({ length: to - from }, (_, i) => cycleEntry(from + i, start + 30 * (from + i), rows));

function read<Result>(file: string, work: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

const codes = (problems: readonly Problem[]): readonly string[] => problems.map((problem) => problem.code);

/** Waits until the ledger says such a problem; the test's own time limit ends it otherwise. */
async function problemSaid(ledger: Ledger, code: string): Promise<void> {
  while (!codes(ledger.problems()).includes(code)) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("what is appended is in the file, added up, when flush resolves", async () => {
  const file = temporaryFile();
  const ledger = await openLedger(file);
  const entries = cycles(0, 200);
  for (const one of entries) ledger.append(one);
  await ledger.flush();
  expect(ledger.problems()).toEqual([]);
  expect(read(file, totalsOfLedger)).toEqual(totalsOfEntries(entries));
});

test("runs of covered time are one row, gaps have their reason, and a hole between two entries is a gap", async () => {
  const file = temporaryFile();
  const ledger = await openLedger(file);
  ledger.append(entry());
  ledger.append(entry({ from: start + 30 }));
  ledger.append(entry({ from: start + 60, gap: "stale-objects" }));
  ledger.append(entry({ from: start + 90, gap: "stale-objects" }));
  ledger.append(entry({ from: start + 500 }));
  ledger.append(entry({ from: start + 300 }));
  await ledger.flush();
  const rows = read(file, (db) =>
    db.prepare("SELECT begins - ? AS b, ends - ? AS e, gap FROM intervals").all(start, start),
  );
  expect(rows.map((row) => Object.values(row))).toEqual([
    [0, 60, null],
    [60, 120, "stale-objects"],
    [120, 500, "too-long"],
    [500, 530, null],
    [530, 300, "clock-jump"],
    [300, 330, null],
  ]);
});

test("what is remembered is changed, and removed", async () => {
  const file = temporaryFile();
  const ledger = await openLedger(file);
  const change = (key: string, value: string | null) => ({ kind: "idle", key, value });
  ledger.append(entry({ remembered: [change("__proto__", "1"), change("b", "1")] }));
  ledger.append(entry({ from: start + 30, remembered: [change("b", "2"), change("c", "3")] }));
  ledger.append(entry({ from: start + 60, remembered: [change("c", null), change("never", null)] }));
  await ledger.close();
  const again = await openLedger(file);
  expect(again.start.remembered).toEqual([change("__proto__", "1"), change("b", "2")]);
  expect(again.start.lastInterval).toEqual({ from: start, to: start + 90, seconds: 90, gap: null });
});

describe("a full disk", () => {
  test("is said, nothing of a cycle is written in part, and all of it follows when there is space again", async () => {
    const file = temporaryFile();
    const small = await openLedger(file, { maxPages: 48, retryMilliseconds: 10, closeMilliseconds: 1000 });
    const entries = cycles(0, 60, 200);
    for (const one of entries) small.append(one);
    await problemSaid(small, "ledger-disk-full");
    const covered = read(file, (db) => db.prepare("SELECT sum(seconds) AS s FROM intervals").get());
    const whole = entries.slice(0, Number(covered?.s ?? 0) / 30);
    expect(read(file, totalsOfLedger)).toEqual(totalsOfEntries(whole));
    await small.close();
    expect(codes(small.problems())).toContain("ledger-time-lost");
    const ledger = await openLedger(file);
    ledger.append(cycleEntry(60, start + 1800));
    await ledger.flush();
    expect(read(file, totalsOfLedger)).toEqual(totalsOfEntries([...whole, cycleEntry(60, start + 1800)]));
    expect(read(file, (db) => db.prepare("SELECT gap FROM intervals ORDER BY id").all())).toEqual([
      { gap: null },
      { gap: "too-long" },
      { gap: null },
    ]);
  });

  test("on a real file system of 1 MB: refused at the start, waited for later", async (context) => {
    const disk = mountedDisk();
    if (disk === null) return context.skip("needs root, to mount a small file system");
    try {
      const ballast = path.join(disk, "ballast");
      writeFileSync(ballast, Buffer.alloc(1000 * 1024));
      const file = path.join(disk, "ledger.db");
      await expect(openLedger(file)).rejects.toThrow(/cannot be (created|locked).*Free space/);
      rmSync(ballast);
      const ledger = await openLedger(file, { retryMilliseconds: 10 });
      const entries = cycles(0, 3);
      ledger.append(entries[0] ?? entry());
      await ledger.flush();
      fillUp(ballast);
      for (const one of entries.slice(1)) ledger.append(one);
      await problemSaid(ledger, "ledger-disk-full");
      expect(codes(ledger.problems())).toEqual(["ledger-disk-full"]);
      rmSync(ballast);
      await ledger.flush();
      expect(ledger.problems()).toEqual([]);
      expect(read(file, totalsOfLedger)).toEqual(totalsOfEntries(entries));
      await ledger.close();
    } finally {
      execFileSync("umount", [disk]);
    }
  });
});

test("entries wait while another connection locks the file, merged when they are many, and none is lost", async () => {
  const file = temporaryFile();
  const ledger = await openLedger(file, { retryMilliseconds: 10 });
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  const entries = cycles(0, 40);
  for (const one of entries) ledger.append(one);
  await problemSaid(ledger, "ledger-locked");
  expect(codes(ledger.problems())).toEqual(["ledger-locked"]);
  other.exec("ROLLBACK");
  other.close();
  await ledger.flush();
  expect(ledger.problems()).toEqual([]);
  expect(read(file, totalsOfLedger)).toEqual(totalsOfEntries(entries));
});

test("what does not fit into memory is given up, counted, and shown as a gap", async () => {
  const file = temporaryFile();
  const ledger = await openLedger(file, { retryMilliseconds: 10, maxWaitingRows: 104 });
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");
  const entries = cycles(0, 5);
  for (const one of entries) ledger.append(one);
  other.exec("ROLLBACK");
  other.close();
  await ledger.flush();
  const [lost] = ledger.problems();
  expect(lost).toMatchObject({ code: "ledger-time-lost" });
  expect(lost?.message).toContain("could not keep 90 s of GPU time (3 entries)");
  // What is no sum of the lost time stays.
  const kept = entries
    .slice(2)
    .map(({ step: { capacity, nodeStreaks } }) =>
      entry({ postings: [], nodeStreaks, capacity: { ...capacity, domains: [], placement: [], topology: [] } }),
    );
  const events = totalsOfEntries(kept);
  expect(read(file, totalsOfLedger)).toEqual(new Map([...totalsOfEntries(entries.slice(0, 2)), ...events]));
  const query = { from: start, to: start + 3600, groupBy: [], where: new Map(), limit: 1 };
  const result = read(file, (db) => queryAccounts(db, query));
  expect(result.ok && result.answer.coverage.gaps).toEqual([
    { from: start + 60, to: start + 150, reason: "not-written" },
    { from: start + 150, to: start + 3600, reason: "after-last-entry" },
  ]);
  expect(read(file, (db) => db.prepare("SELECT count(*) AS n FROM remembered").get())).toEqual({ n: 5 });
});

test("an entry that SQLite cannot take does not keep the next ones from being written", async () => {
  const file = temporaryFile();
  const ledger = await openLedger(file, { retryMilliseconds: 10 });
  ledger.append(entry({ postings: [posting({ gpuSeconds: Number.NaN })] }));
  ledger.append(entry({ from: start + 30 }));
  await ledger.flush();
  expect(codes(ledger.problems())).toEqual(["ledger-time-lost"]);
  expect(read(file, (db) => db.prepare("SELECT gap FROM intervals ORDER BY id").all())).toEqual([
    { gap: "not-written" },
    { gap: null },
  ]);
});

test("a file that was put in the ledger's place is not written, and the right one is found again", async () => {
  const file = temporaryFile();
  const ledger = await openLedger(file, { retryMilliseconds: 10 });
  renameSync(file, `${file}.away`);
  writeFileSync(file, "something else");
  ledger.append(entry());
  await problemSaid(ledger, "ledger-replaced");
  expect(codes(ledger.problems())).toEqual(["ledger-replaced"]);
  expect(readFileSync(file, "utf8")).toBe("something else");
  renameSync(`${file}.away`, file);
  await ledger.flush();
  expect(ledger.problems()).toEqual([]);
});

/** A file system of 1 MB, where this user may mount one; `null` otherwise. */
function mountedDisk(): string | null {
  if (process.getuid?.() !== 0) return null;
  const folder = path.join(temporaryFolder(), "disk");
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "fairlead-test", folder], { stdio: "ignore" });
    return folder;
  } catch {
    return null;
  }
}

/** Writes until nothing more fits. */
function fillUp(file: string): void {
  for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
    try {
      writeFileSync(file, Buffer.alloc(size), { flag: "a" });
    } catch {
      // The half of it may still fit.
    }
  }
}
