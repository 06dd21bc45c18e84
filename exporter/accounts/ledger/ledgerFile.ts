import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Problem } from "../../model/problem.ts";
import { ledgerProblem, type OrProblem } from "./ledgerProblem.ts";
import { ledgerApplicationId } from "./schema.ts";
import { sqliteProblem } from "./sqliteError.ts";

/** What is at a ledger's path, as far as it can be known without SQLite. */
export type FoundFile =
  | { readonly kind: "none" | "empty" | "ledger" }
  | { readonly kind: "refused"; readonly problem: Problem };

/** An open database, or the reason why it could not be opened. */
export type OpenedDatabase = OrProblem<{ readonly db: DatabaseSync }>;

const headerBytes = 100;
const magic = "SQLite format 3\0";
const applicationIdOffset = 68;

/**
 * Looks at the file's header before SQLite may touch it: https://www.sqlite.org/fileformat.html#the_database_header. A file of
 * another program is not opened at all.
 */
export function lookAtFile(file: string): FoundFile {
  const refused = (problem: Problem): FoundFile => ({ kind: "refused", problem });
  const folder = statOf(path.dirname(file));
  if (folder === null || !folder.isDirectory()) {
    return refused(ledgerProblem("ledger-directory-missing", file, `has no place: ${path.dirname(file)} is no folder`));
  }
  const stats = statOf(file);
  if (stats === null) return { kind: "none" };
  if (!stats.isFile()) return refused(ledgerProblem("ledger-not-a-file", file, "is a folder or a device, not a file"));
  const header = readHeader(file);
  if (header === null) return refused(ledgerProblem("ledger-read-only", file, "cannot be read: no permission"));
  if (header.length === 0) {
    if (!hasLog(file)) return { kind: "empty" };
    return refused(ledgerProblem("ledger-corrupt", file, "is empty, but its write-ahead log (-wal) is not"));
  }
  if (header.toString("latin1", 0, magic.length) !== magic) {
    return refused(ledgerProblem("ledger-not-sqlite", file, `is not a SQLite file (${stats.size} bytes)`));
  }
  if (header.length < headerBytes) {
    return refused(ledgerProblem("ledger-corrupt", file, `is cut off after ${header.length} bytes`));
  }
  const id = header.readUInt32BE(applicationIdOffset);
  if (id === ledgerApplicationId) return { kind: "ledger" };
  const found = `is a SQLite file of another program (application id ${id}, a ledger's is ${ledgerApplicationId})`;
  return refused(ledgerProblem("ledger-foreign", file, found));
}

/** Whether a write-ahead log that is not empty exists next to a file. */
export function hasLog(file: string): boolean {
  return (statOf(`${file}-wal`)?.size ?? 0) > 0;
}

/**
 * What this process knows about a file before it reads it. `held` means that the process itself has this ledger open. The
 * header must not be looked at then, because closing any handle of a file gives up all locks that a process has on it (POSIX,
 * fcntl), and another program could then remove the write-ahead log.
 */
export type FileKnowledge = "held" | "unknown";

/**
 * The reason why there is no ledger to read at a path; `null` if there is one. It must not be called for a file that this
 * process has open.
 */
export function refusalToRead(file: string): Problem | null {
  const found = lookAtFile(file);
  if (found.kind === "refused") return found.problem;
  if (found.kind === "ledger") return null;
  return ledgerProblem("ledger-missing", file, found.kind === "none" ? "does not exist" : "is empty");
}

/**
 * The reason why a file or its folder cannot be written; `null` if they can. SQLite itself would open such a file and fail in
 * the first cycle.
 */
export function writeRefusal(file: string): Problem | null {
  const folder = path.dirname(file);
  if (!mayWrite(folder))
    return ledgerProblem("ledger-read-only", file, `has a folder that may not be written: ${folder}`);
  return statOf(file) === null || mayWrite(file) ? null : ledgerProblem("ledger-read-only", file, "may not be written");
}

function mayWrite(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** A database at a path, or at an address with SQLite's own parameters (`?immutable=1`). */
export type DatabasePlace = string | URL;

/** The address of a file with parameters for SQLite (https://www.sqlite.org/uri.html). */
export function fileAddress(file: string, parameters: Readonly<Record<string, string>>): URL {
  const url = pathToFileURL(file);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url;
}

/** Opens a ledger to read it; while it is being written, each reading transaction sees one moment. */
export function openToRead(file: string): OpenedDatabase {
  try {
    return { ok: true, db: openChecked(file) };
  } catch (error) {
    // The file may have a log that nobody can attach to, such as a copy on a read-only mount. Without a log, the file alone is
    // the ledger.
    if (statOf(file) === null) return { ok: false, problem: ledgerProblem("ledger-missing", file, "does not exist") };
    const problem = sqliteProblem(error, file, "cannot be read");
    if (problem.code !== "ledger-read-only" || hasLog(file)) return { ok: false, problem };
  }
  try {
    return { ok: true, db: openChecked(fileAddress(file, { immutable: "1" })) };
  } catch (error) {
    return { ok: false, problem: sqliteProblem(error, file, "cannot be read") };
  }
}

function openChecked(place: DatabasePlace): DatabaseSync {
  const db = new DatabaseSync(place, { readOnly: true, timeout: busyMilliseconds });
  try {
    db.prepare("PRAGMA schema_version").get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** How long SQLite waits for another connection before it reports that the file is locked. */
export const busyMilliseconds = 2000;

/** Moves a finished file to its place, and makes sure that the file and its name survive a loss of power. */
export function putInPlace(from: string, to: string): void {
  syncFile(from);
  renameSync(from, to);
  try {
    syncFile(path.dirname(to));
  } catch (error) {
    // Some file systems cannot sync a folder, and report that.
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (typeof code !== "string" || !withoutFolderSync.has(code)) throw error;
  }
}

const withoutFolderSync: ReadonlySet<string> = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Removes a database that is not needed, with its logs. */
export function removeDatabase(file: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${suffix}`, { force: true });
}

/** Removes an unfinished file; if that fails, the next attempt knows it by its name and removes it. */
export function removeUnfinished(file: string): void {
  try {
    removeDatabase(file);
  } catch {
    // The caller has a better message, or a result.
  }
}

function syncFile(file: string): void {
  const handle = openSync(file, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function readHeader(file: string): Buffer | null {
  try {
    const handle = openSync(file, "r");
    try {
      const header = Buffer.alloc(headerBytes);
      return header.subarray(0, readSync(handle, header, 0, headerBytes, 0));
    } finally {
      closeSync(handle);
    }
  } catch {
    return null;
  }
}

function statOf(file: string): Stats | null {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}
