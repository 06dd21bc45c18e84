import { DatabaseSync } from "node:sqlite";
import type { Problem } from "../../model/problem.ts";
import {
  busyMilliseconds,
  fileAddress,
  hasLog,
  lookAtFile,
  openToRead,
  putInPlace,
  removeDatabase,
  removeUnfinished,
  writeRefusal,
} from "./ledgerFile.ts";
import { nameRefusal, networkRefusal, openElsewhere } from "./ledgerPlace.ts";
import { ledgerProblem, type OrProblem } from "./ledgerProblem.ts";
import { filesAt, lastOpened, noteOpened, type OpenedFiles, realName, setAsideLog } from "./openedFile.ts";
import { ledgerApplicationId } from "./schema.ts";
import { sqliteProblem } from "./sqliteError.ts";
import { numberOrNullIn, textIn } from "./sqliteRow.ts";
import { inTransaction } from "./transaction.ts";
import { lockForWriting, type WriterLock } from "./writerLock.ts";

/** A ledger that this process alone writes. */
export interface WritableLedger {
  readonly db: DatabaseSync;
  readonly lock: WriterLock;
  /** Its name without symbolic links; the log is next to this name. */
  readonly name: string;
  /** The file and the log that were opened. */
  readonly files: OpenedFiles | null;
  /** What was repaired before the ledger could be opened; `null` if nothing was. */
  readonly notice: Problem | null;
}

export type OpenedForWriting = OrProblem<{ readonly ledger: WritableLedger }>;

/**
 * Opens a ledger, creates it where there is none, and brings an older one up to date. A file that is refused is left unchanged.
 */
export function openForWriting(
  named: string,
  migrations: readonly string[],
  vfs: string | null = null,
): OpenedForWriting {
  const file = realName(named);
  const found = lookAtFile(file);
  if (found.kind === "refused") return { ok: false, problem: found.problem };
  const forbidden = nameRefusal(file) ?? writeRefusal(file);
  if (forbidden !== null) return { ok: false, problem: forbidden };
  const network = networkRefusal(file);
  if (network !== null) return { ok: false, problem: network };
  const locked = lockForWriting(file);
  if (!locked.ok) return locked;
  try {
    const opened = openLocked(file, migrations, vfs);
    if (opened.ok) return { ok: true, ledger: { ...opened.taken, lock: locked.lock, name: file } };
    locked.lock.release();
    return opened;
  } catch (error) {
    locked.lock.release();
    return { ok: false, problem: sqliteProblem(error, file, "cannot be opened") };
  }
}

function openLocked(
  file: string,
  migrations: readonly string[],
  vfs: string | null,
): OrProblem<{ readonly taken: Omit<WritableLedger, "lock" | "name"> }> {
  const aside = setAsideLog(file, lastOpened(file));
  const notice = aside === null ? null : logSetAside(file, aside);
  // Another process may have created the file since then.
  const now = lookAtFile(file);
  const problem =
    now.kind === "refused"
      ? now.problem
      : now.kind === "ledger"
        ? (takeoverRefusal(file, migrations.length) ?? openElsewhere(file))
        : createLedger(file, migrations);
  const opened = problem === null ? openAndMigrate(file, migrations, vfs) : { ok: false as const, problem };
  if (!opened.ok) return opened;
  const files = filesAt(file);
  if (files !== null) noteOpened(file, files);
  return { ok: true, taken: { db: opened.db, files, notice } };
}

/** Reports that the log of another file was moved away from beside the ledger. */
export function logSetAside(file: string, aside: string): Problem {
  const found = `was put in another ledger's place; the write-ahead log of that one, which would have damaged it, is now ${aside}`;
  return ledgerProblem("ledger-log-set-aside", file, found);
}

/**
 * The reason why a ledger cannot be continued, which is its version or damage; `null` if it can. It is found by a connection
 * that cannot write.
 */
export function takeoverRefusal(file: string, newest: number): Problem | null {
  const problem = versionOrDamage(file, newest);
  if (problem?.code !== "ledger-corrupt" || !isSoundWithoutLog(file)) return problem;
  const found = "is sound by itself, and damaged with the write-ahead log (-wal) beside it: the log is another file's";
  return ledgerProblem("ledger-foreign-log", file, found);
}

/** Whether SQLite's own check finds nothing wrong with a file whose log is left out. */
function isSoundWithoutLog(file: string): boolean {
  if (!hasLog(file)) return false;
  const db = new DatabaseSync(fileAddress(file, { immutable: "1" }), { readOnly: true });
  try {
    return unsoundness(db, file) === null;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

function versionOrDamage(file: string, newest: number): Problem | null {
  const opened = openToRead(file);
  if (!opened.ok) return opened.problem;
  try {
    const version = versionOf(opened.db);
    return version > newest ? newerVersion(file, version, newest) : unsoundness(opened.db, file);
  } catch (error) {
    return sqliteProblem(error, file, "cannot be read");
  } finally {
    opened.db.close();
  }
}

/** What SQLite's own check finds wrong with the file; `null` if nothing is wrong. Reads the whole file. */
function unsoundness(db: DatabaseSync, file: string): Problem | null {
  const row = db.prepare("PRAGMA quick_check(1)").get();
  const verdict = row === undefined ? "no answer" : textIn(row, "quick_check");
  return verdict === "ok"
    ? null
    : ledgerProblem("ledger-corrupt", file, `is damaged: ${verdict.replaceAll("\n", " ")}`);
}

/** What SQLite's own check finds wrong with a file that nobody writes; `null` if nothing is wrong. Reads the whole file. */
export function damageOf(file: string): Problem | null {
  const opened = openToRead(file);
  if (!opened.ok) return opened.problem;
  try {
    return unsoundness(opened.db, file);
  } finally {
    opened.db.close();
  }
}

/** Reports a ledger that a newer Fairlead has written. */
export function newerVersion(file: string, version: number, newest: number): Problem {
  const found = `has version ${version}; this Fairlead knows versions up to ${newest}`;
  return ledgerProblem("ledger-newer-version", file, found);
}

/** The version of an open ledger. */
export function versionOf(db: DatabaseSync): number {
  return numberOrNullIn(db.prepare("PRAGMA user_version").get(), "user_version") ?? 0;
}

/**
 * Creates the new file under another name, and moves it into place when it is complete, so that a crash never leaves half a
 * ledger.
 */
export function createLedger(file: string, migrations: readonly string[]): Problem | null {
  const unfinished = `${file}.new`;
  try {
    removeDatabase(unfinished);
    const db = new DatabaseSync(unfinished);
    try {
      db.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA application_id = ${ledgerApplicationId}`);
      migrate(db, migrations);
    } finally {
      db.close();
    }
    putInPlace(unfinished, file);
    return null;
  } catch (error) {
    removeUnfinished(unfinished);
    return sqliteProblem(error, file, "cannot be created");
  }
}

/** Bytes of a page. This is larger than SQLite's default of 4096, because a cycle changes rows that are close together. */
const pageBytes = 8192;

function openAndMigrate(
  file: string,
  migrations: readonly string[],
  vfs: string | null,
): OrProblem<{ readonly db: DatabaseSync }> {
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(vfs === null ? file : fileAddress(file, { vfs }), { timeout: busyMilliseconds });
    const problem = prepareConnection(db, file);
    if (problem === null) {
      migrate(db, migrations);
      return { ok: true, db };
    }
    db.close();
    return { ok: false, problem };
  } catch (error) {
    db?.close();
    return { ok: false, problem: sqliteProblem(error, file, "cannot be opened") };
  }
}

/**
 * Sets up the connection; returns the reason why the ledger cannot be written, `null` if it can. It uses a write-ahead log, so
 * that readers and the writer do not wait for each other. With `synchronous = FULL`, a committed cycle survives a loss of
 * power, at the price of one fsync each cycle; with NORMAL, it would survive only kill -9.
 */
function prepareConnection(db: DatabaseSync, file: string): Problem | null {
  const row = db.prepare("PRAGMA journal_mode = WAL").get();
  const mode = row === undefined ? "nothing" : textIn(row, "journal_mode");
  if (mode !== "wal") {
    const found = `cannot have a write-ahead log here: SQLite answers journal_mode ${mode}`;
    return ledgerProblem("ledger-no-wal", file, found);
  }
  const refused = refusedWrite(db, file);
  if (refused !== null) return refused;
  db.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${64 * 1024 * 1024}; PRAGMA cache_size = -65536`);
  return null;
}

/**
 * The problem that the log's shared memory (-shm) cannot be written; `null` if it can. SQLite opens the file read-only then,
 * and without this check the first cycle would fail instead of the start.
 */
function refusedWrite(db: DatabaseSync, file: string): Problem | null {
  try {
    db.exec("BEGIN IMMEDIATE; ROLLBACK");
    return null;
  } catch (error) {
    const problem = sqliteProblem(error, file, "cannot be written through its write-ahead log");
    if (problem.code !== "ledger-read-only") return problem;
    // It was checked before that the folder and the file can be written.
    const text = error instanceof Error ? error.message : String(error);
    return ledgerProblem("ledger-no-wal", file, `cannot share its write-ahead log's memory (${file}-shm): ${text}`);
  }
}

/** Brings a file to the newest version, with all steps in one transaction. */
export function migrate(db: DatabaseSync, migrations: readonly string[]): void {
  const version = versionOf(db);
  if (version >= migrations.length) return;
  inTransaction(db, () => {
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
  });
}
