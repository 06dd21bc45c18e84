import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { networkRefusal } from "../../../exporter/accounts/ledger/ledgerPlace.ts";
import { ledgerApplicationId, ledgerMigrations, ledgerVersion } from "../../../exporter/accounts/ledger/schema.ts";
import { sqliteProblem } from "../../../exporter/accounts/ledger/sqliteError.ts";
import { openSqliteLedger, type SqliteLedgerOptions } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import type { Problem } from "../../../exporter/model/problem.ts";
import { cycleEntry, entry, keepAll, start } from "./entries.ts";
import { openLedger, temporaryFile, temporaryFolder } from "./temporaryFolder.ts";

const nobody = 65_534;
const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A ledger with some cycles in it, large enough to be cut. */
async function ledgerWithCycles(file: string): Promise<void> {
  const ledger = await openLedger(file);
  for (let n = 0; n < 40; n += 1) ledger.append(cycleEntry(n, start + 30 * n, 100));
  await ledger.flush();
  await ledger.close();
}

/** Another process that writes the ledger on and on; resolves when it has said these words. */
async function writingProcess(file: string, words: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [beside("crashChild.ts"), file, "0", String(start)]);
  let text = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (part: Buffer) => {
      text += part.toString();
      if (text.includes(words)) resolve();
    });
  });
  return child;
}

async function refusal(file: string, options: Partial<SqliteLedgerOptions> = {}): Promise<Problem> {
  const opened = await openSqliteLedger({ file, retention: keepAll, ...options });
  if (opened.ok) {
    await opened.ledger.close();
    throw new Error("the file was not refused");
  }
  return opened.problem;
}

/** The problem with which a file is refused, after making sure that nothing in it has changed. */
async function refusedUnchanged(file: string): Promise<Problem> {
  const before = readFileSync(file);
  const problem = await refusal(file);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(problem.message).toContain(file);
  expect(problem.nextStep.length).toBeGreaterThan(20);
  return problem;
}

describe("a ledger that can be opened", () => {
  test("is created where there is none, whole and with its own mark", async () => {
    const file = temporaryFile();
    const ledger = await openLedger(file);
    expect(ledger.start).toMatchObject({ lastInterval: null, remembered: [], endedShapes: [] });
    await ledger.close();
    const header = readFileSync(file);
    expect(header.readUInt32BE(68)).toBe(ledgerApplicationId);
    expect(header.readUInt32BE(60)).toBe(ledgerVersion);
    expect(readdirSync(path.dirname(file)).sort()).toEqual(["ledger.db", "ledger.db-opened", "ledger.db-writer"]);
  });

  test("may be an empty file", async () => {
    const file = temporaryFile();
    writeFileSync(file, "");
    const ledger = await openLedger(file);
    ledger.append(entry());
    await ledger.flush();
    expect(ledger.problems()).toEqual([]);
  });

  test("says what it knew, also when the process before it left its log behind", async () => {
    const file = temporaryFile();
    const child = await writingProcess(file, "done 3 ");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    const ledger = await openLedger(file);
    expect(ledger.start.lastInterval).toMatchObject({ from: start, gap: null });
    expect(ledger.start.remembered).toContainEqual({ kind: "idle", key: "gpu-3", value: "3" });
  });

  test("removes what a crash left of a file that was being created", async () => {
    const file = temporaryFile();
    writeFileSync(`${file}.new`, "half a ledger");
    await openLedger(file);
    expect(existsSync(`${file}.new`)).toBe(false);
  });
});

describe("a file that is refused stays as it is", () => {
  test("no SQLite file", async () => {
    const file = temporaryFile();
    writeFileSync(file, "teams and their GPU-hours, kept by hand\n".repeat(50));
    expect(await refusedUnchanged(file)).toMatchObject({ code: "ledger-not-sqlite" });
    expect(readdirSync(path.dirname(file))).toEqual(["ledger.db"]);
  });

  test("a SQLite file of another program", async () => {
    const file = temporaryFile();
    const db = new DatabaseSync(file);
    db.exec("CREATE TABLE dashboard (id INTEGER PRIMARY KEY, data TEXT)");
    db.close();
    const problem = await refusedUnchanged(file);
    expect(problem.code).toBe("ledger-foreign");
    expect(problem.message).toContain("application id 0");
    expect(readdirSync(path.dirname(file))).toEqual(["ledger.db"]);
  });

  test("a newer version", async () => {
    const file = temporaryFile();
    await ledgerWithCycles(file);
    const db = new DatabaseSync(file);
    db.exec(`PRAGMA user_version = ${ledgerVersion + 1}`);
    db.close();
    const problem = await refusedUnchanged(file);
    expect(problem.code).toBe("ledger-newer-version");
    expect(problem.message).toContain(
      `has version ${ledgerVersion + 1}; this Fairlead knows versions up to ${ledgerVersion}`,
    );
  });

  test.each([
    ["in its middle", 0.5],
    ["within the first page", 0.001],
  ])("cut off %s", async (_where, part) => {
    const file = temporaryFile();
    await ledgerWithCycles(file);
    truncateSync(file, Math.max(40, Math.floor(statSync(file).size * part)));
    expect(await refusedUnchanged(file)).toMatchObject({ code: "ledger-corrupt" });
  });

  test("a page that was overwritten", async () => {
    const file = temporaryFile();
    await ledgerWithCycles(file);
    const bytes = readFileSync(file);
    bytes.fill(0xa5, 3 * 8192, 4 * 8192);
    writeFileSync(file, bytes);
    expect(await refusedUnchanged(file)).toMatchObject({ code: "ledger-corrupt" });
  });

  test("emptied beside a log that is not empty", async () => {
    const file = temporaryFile();
    writeFileSync(file, "");
    writeFileSync(`${file}-wal`, "frames of a ledger that was here");
    expect(await refusedUnchanged(file)).toMatchObject({ code: "ledger-corrupt" });
  });

  test("written by another process", async () => {
    const file = temporaryFile();
    const child = await writingProcess(file, "done");
    const problem = await refusal(file);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(problem).toMatchObject({ code: "ledger-locked" });
    expect(problem.message).toContain("is being written by another process");
    await openLedger(file);
  });
});

describe("a place that cannot hold a ledger", () => {
  test("a folder that is not there", async () => {
    const problem = await refusal(path.join(temporaryFolder(), "missing", "ledger.db"));
    expect(problem).toMatchObject({ code: "ledger-directory-missing" });
    expect(problem.message).toContain("missing is no folder");
  });

  test("a folder in the file's place", async () => {
    const file = temporaryFile();
    mkdirSync(file);
    expect(await refusal(file)).toMatchObject({ code: "ledger-not-a-file" });
  });

  test("a file system without shared memory, such as a network's", async () => {
    const problem = await refusal(temporaryFile(), { vfs: "unix-dotfile" });
    expect(problem).toMatchObject({ code: "ledger-no-wal" });
    expect(problem.message).toContain("journal_mode delete");
  });

  test("a place where the log's memory cannot be shared", async () => {
    const file = temporaryFile();
    mkdirSync(`${file}-shm`);
    const problem = await refusal(file);
    expect(problem).toMatchObject({ code: "ledger-no-wal", subject: file });
    expect(problem.message).toContain(`${file}-shm`);
    expect(problem.nextStep).toContain("block storage");
  });

  test.each([
    ["NFS", 0x6969, "lies on NFS"],
    ["SMB, as a number with a sign", -0x1acb2be, "lies on SMB"],
    ["ext4", 0xef53, null],
  ])("a network file system, by its number: %s", (_name, type, found) => {
    const problem = networkRefusal("/var/lib/fairlead/ledger.db", () => ({ type }));
    expect(problem?.message ?? null).toEqual(found === null ? null : expect.stringContaining(found));
    if (problem !== null)
      expect(problem).toMatchObject({ code: "ledger-no-wal", nextStep: expect.stringContaining("block storage") });
  });

  test.each([
    ["nobody can lock", 3850],
    ["no memory is shared", 5386],
    ["the locks of the log are not kept", 15],
  ])("a file system on which %s, as SQLite says it", (_what, errcode) => {
    const error = Object.assign(new Error("disk I/O error"), { errcode });
    const problem = sqliteProblem(error, temporaryFile(), "cannot be opened");
    expect(problem).toMatchObject({ code: "ledger-no-wal" });
    expect(problem.message).toContain(`(${errcode})`);
  });

  test.each([
    ["a folder that may not be written", 0o555, 0o644, true],
    ["a file that may not be written", 0o777, 0o444, true],
    ["a file that may not be read", 0o777, 0o000, true],
    ["a folder in which no file can be made", 0o555, 0, false],
  ])("%s", async (_case, folderMode, fileMode, exists) => {
    const file = temporaryFile();
    if (exists) {
      await ledgerWithCycles(file);
      chmodSync(file, fileMode);
      chmodSync(`${file}-writer`, 0o666);
    }
    chmodSync(path.dirname(file), folderMode);
    const before = exists ? statSync(file) : null;
    // Root may write everything, so a test that runs as root asks as someone else.
    const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
    const child = spawnSync(process.execPath, [beside("openChild.ts"), file], { ...user, encoding: "utf8" });
    chmodSync(path.dirname(file), 0o777);
    const problem: unknown = JSON.parse(child.stdout);
    expect(problem).toMatchObject({ code: "ledger-read-only", subject: file });
    if (before !== null) expect(statSync(file)).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs });
  });
});

describe("an older version", () => {
  const more = [
    ...ledgerMigrations,
    "ALTER TABLE pool_time ADD COLUMN cost REAL; CREATE TABLE extra (id INTEGER PRIMARY KEY)",
  ];

  test("is brought up to date in one step, and keeps what it holds", async () => {
    const file = temporaryFile();
    await ledgerWithCycles(file);
    const ledger = await openLedger(file, { migrations: more });
    expect(ledger.start.lastInterval).toMatchObject({ from: start, to: start + 1200 });
    await ledger.close();
    const db = new DatabaseSync(file, { readOnly: true });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: more.length });
    expect(db.prepare("SELECT count(*) AS n, sum(cost) AS cost FROM pool_time").get()).toEqual({ n: 2, cost: null });
    db.close();
    expect(await refusedUnchanged(file)).toMatchObject({ code: "ledger-newer-version" });
  });

  test("stays what it was when a step fails", async () => {
    const file = temporaryFile();
    await ledgerWithCycles(file);
    const broken = [...more, "ALTER TABLE no_such_table ADD COLUMN x"];
    const problem = await refusal(file, { migrations: broken });
    expect(problem.message).toContain("no such table");
    const ledger = await openLedger(file);
    expect(ledger.start.lastInterval).toMatchObject({ to: start + 1200 });
  });

  test("the file that version 1 wrote is still read", async () => {
    const file = temporaryFile();
    const db = new DatabaseSync(file);
    db.exec(readFileSync(beside("version1.sql"), "utf8"));
    db.close();
    const ledger = await openLedger(file);
    expect(ledger.start).toMatchObject({
      lastInterval: { from: start, to: start + 30, seconds: 30, gap: null },
      remembered: [{ kind: "idle", key: "n1/GPU-1", value: "1793577600" }],
    });
    ledger.append(entry({ from: start + 30 }));
    await ledger.close();
    const reading = new DatabaseSync(file, { readOnly: true });
    expect(reading.prepare("SELECT sum(gpu_seconds) AS s FROM gpu_time").get()).toEqual({ s: 60 });
    reading.close();
  });
});
