import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checkLedger } from "../../../exporter/accounts/ledger/checkLedger.ts";
import { openSqliteLedger } from "../../../exporter/accounts/ledger/sqliteLedger.ts";
import { cycleEntry, keepAll, start } from "./entries.ts";
import { readLedger } from "./replicas.ts";
import { openLedger, temporaryFile, temporaryFolder } from "./temporaryFolder.ts";

const hours = 3600;

/** A ledger of other pages than those of `writing`, closed in peace. */
async function goodCopy(): Promise<string> {
  const file = temporaryFile();
  const ledger = await openLedger(file);
  for (let n = 0; n < 60; n += 1) ledger.append(cycleEntry(n, start + 30 * n, 150));
  await ledger.flush();
  await ledger.close();
  return file;
}

/** Another process that writes a ledger on and on, with a log of some cycles. */
async function writing(file: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [
    fileURLToPath(new URL("crashChild.ts", import.meta.url)),
    file,
    "0",
    String(start + 24 * hours),
  ]);
  let text = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (part: Buffer) => {
      text += part.toString();
      if (text.includes("done 8 ")) resolve();
    });
  });
  return child;
}

/**
 * Puts next to a file the log of another ledger. It has only a part of that ledger's pages: with a log that has all of them,
 * which that of a young ledger may have, whatever is next to it is that ledger, whole.
 */
async function putForeignLog(file: string): Promise<void> {
  const other = temporaryFile();
  const ledger = await openLedger(other);
  for (let n = 0; n < 12; n += 1) ledger.append(cycleEntry(n, start + 24 * hours + 30 * n, 250));
  await ledger.flush();
  await ledger.close();
  const db = new DatabaseSync(other);
  db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0");
  db.exec("UPDATE workload_time SET gpu_seconds = gpu_seconds + 1");
  copyFileSync(`${other}-wal`, `${file}-wal`);
  db.close();
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "close");
}

const besides = (file: string): readonly string[] =>
  readdirSync(path.dirname(file)).filter((name) => name.endsWith("-wal"));
const accounted = (file: string): unknown =>
  readLedger(file, (db) => db.prepare("SELECT count(*) AS n, max(ends) AS ends FROM intervals").get());

test("a file put in a ledger's place while that is written is good after the next start", async () => {
  const [file, copy] = [temporaryFile(), await goodCopy()];
  const ledger = await openLedger(file, { retryMilliseconds: 10 });
  for (let n = 0; n < 20; n += 1) ledger.append(cycleEntry(n, start + 24 * hours + 30 * n, 100));
  await ledger.flush();
  const sound = accounted(copy);
  copyFileSync(copy, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  await ledger.close();
  expect(besides(file)).toEqual(["ledger.db.replaced-1-wal"]);

  await openLedger(file);
  expect(readLedger(file, checkLedger).wrong).toEqual([]);
  expect(accounted(file)).toEqual(sound);
});

test("also where the process that wrote was killed: the log is set aside by the start, which says so", async () => {
  const [file, copy] = [temporaryFile(), await goodCopy()];
  const child = await writing(file);
  const sound = accounted(copy);
  copyFileSync(copy, `${file}.copy`);
  renameSync(file, `${file}.old`);
  renameSync(`${file}.copy`, file);
  await kill(child);
  const log = statSync(`${file}-wal`).ino;

  const ledger = await openLedger(file);
  expect(ledger.problems()).toMatchObject([{ code: "ledger-log-set-aside", severity: "warning" }]);
  expect(ledger.problems()[0]?.message).toContain("ledger.db.replaced-1-wal");
  expect(statSync(`${file}.replaced-1-wal`).ino).toBe(log);
  expect(readLedger(file, checkLedger).wrong).toEqual([]);
  expect(accounted(file)).toEqual(sound);

  // The file that was there before has lost nothing: with its log it is what it was.
  renameSync(`${file}.replaced-1-wal`, `${file}.old-wal`);
  const old = new DatabaseSync(`${file}.old`);
  expect(old.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(old.prepare("SELECT max(ends) > ? AS written FROM intervals").get(start + 24 * hours + 8 * 30)).toEqual({
    written: 1,
  });
  old.close();
});

test("a log of the ledger's own is applied, also after the whole folder was copied elsewhere", async () => {
  const file = temporaryFile();
  const child = await writing(file);
  await kill(child);
  const elsewhere = path.join(temporaryFolder(), "ledger.db");
  for (const suffix of ["", "-wal", "-opened"]) copyFileSync(`${file}${suffix}`, `${elsewhere}${suffix}`);
  for (const place of [file, elsewhere]) {
    const ledger = await openLedger(place);
    expect(ledger.start.lastInterval?.to).toBeGreaterThan(start + 24 * hours + 8 * 30 - 1);
    expect(ledger.problems()).toEqual([]);
  }
});

test("a log whose owner nobody knows stays, and the refusal says that the file is sound without it", async () => {
  const [file, copy] = [temporaryFile(), await goodCopy()];
  copyFileSync(copy, file);
  await putForeignLog(file);
  const before = statSync(`${file}-wal`);
  const opened = await openSqliteLedger({ file, retention: keepAll });
  expect(opened).toMatchObject({ ok: false, problem: { code: "ledger-foreign-log", subject: file } });
  expect(opened.ok ? "" : opened.problem.nextStep).toContain("move the -wal and -shm beside it away");
  expect(statSync(`${file}-wal`)).toMatchObject({ ino: before.ino, size: before.size });

  for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
  await openLedger(file);
  expect(accounted(file)).toEqual(accounted(copy));
});

test("a damaged note of what was opened is no reason to touch a log", async () => {
  const file = temporaryFile();
  const child = await writing(file);
  await kill(child);
  writeFileSync(`${file}-opened`, '{"file": 12');
  const ledger = await openLedger(file);
  expect(ledger.start.lastInterval).not.toBeNull();
  expect(existsSync(`${file}.replaced-1-wal`)).toBe(false);
});
