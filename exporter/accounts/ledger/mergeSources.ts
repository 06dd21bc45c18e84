import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { DatabaseSync as Database } from "node:sqlite";
import { type DatabasePlace, fileAddress, openToRead, refusalToRead } from "./ledgerFile.ts";
import type { OrProblem } from "./ledgerProblem.ts";
import { migrate, newerVersion, versionOf } from "./openForWriting.ts";
import { ledgerMigrations, ledgerVersion } from "./schema.ts";
import { sqliteProblem } from "./sqliteError.ts";

/** SQLite attaches ten databases to a connection (SQLITE_MAX_ATTACHED); two are kept for other uses. */
export const maxMergedLedgers = 8;

/** A ledger that is read for a merge. */
export interface MergeSource {
  /** The path of the file as it was given. */
  readonly file: string;
  /** The file that is read: the file itself, or a copy of an older one that was brought up to date. */
  readonly readFrom: string;
}

/** A source, or the reason why this file cannot be one. */
export type PreparedSource = OrProblem<{ readonly source: MergeSource }>;

/** Checks that a file is a ledger. One of an older version is copied to `copy`, and the copy is brought up to date. */
export function prepareSource(file: string, copy: string): PreparedSource {
  const refused = refusalToRead(file);
  if (refused !== null) return { ok: false, problem: refused };
  const opened = openToRead(file);
  if (!opened.ok) return opened;
  try {
    const version = versionOf(opened.db);
    if (version > ledgerVersion) return { ok: false, problem: newerVersion(file, version, ledgerVersion) };
    if (version === ledgerVersion) return { ok: true, source: { file, readFrom: file } };
    opened.db.prepare("VACUUM INTO ?").run(copy);
    bringUpToDate(copy);
    return { ok: true, source: { file, readFrom: copy } };
  } catch (error) {
    return { ok: false, problem: sqliteProblem(error, file, "cannot be read") };
  } finally {
    opened.db.close();
  }
}

function bringUpToDate(copy: string): void {
  const db = new Database(copy);
  try {
    migrate(db, ledgerMigrations);
  } finally {
    db.close();
  }
}

/** Attaches a source to the connection under this name, for reading only. */
export function attach(db: DatabaseSync, { readFrom }: MergeSource, name: string): void {
  const attachAt = (place: DatabasePlace): void => {
    db.prepare(`ATTACH ? AS ${name}`).run(`${place}`);
    try {
      db.prepare(`PRAGMA ${name}.schema_version`).get();
    } catch (error) {
      db.exec(`DETACH ${name}`);
      throw error;
    }
  };
  try {
    attachAt(fileAddress(readFrom, { mode: "ro" }));
  } catch (error) {
    // As in `openToRead`, this may be a copy on a read-only mount, whose log nobody can attach to.
    if (logSize(readFrom) > 0) throw error;
    attachAt(fileAddress(readFrom, { immutable: "1" }));
  }
}

function logSize(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
