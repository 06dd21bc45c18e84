import { DatabaseSync } from "node:sqlite";
import { ledgerProblem, type OrProblem } from "./ledgerProblem.ts";
import { realName } from "./openedFile.ts";
import { sqliteProblem } from "./sqliteError.ts";

/** The right to write a ledger, kept until `release`, or until the process ends in any way. */
export interface WriterLock {
  release(): void;
}

/**
 * Takes the right to write. A write-ahead log lets two processes write in turn, and both would count the same time. A lock that
 * SQLite itself could hold for that long would keep readers out, too. Therefore an empty file next to the ledger's name without
 * symbolic links is locked; other names of the file are checked before (`ledgerPlace.ts`).
 */
export function lockForWriting(named: string): OrProblem<{ readonly lock: WriterLock }> {
  const file = realName(named);
  let db: DatabaseSync | null = null;
  try {
    const lock = new DatabaseSync(`${file}-writer`, { timeout: 0 });
    db = lock;
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return { ok: true, lock: { release: () => lock.close() } };
  } catch (error) {
    db?.close();
    const problem = sqliteProblem(error, file, `cannot be locked (${file}-writer)`);
    if (problem.code !== "ledger-locked") return { ok: false, problem };
    return { ok: false, problem: ledgerProblem("ledger-locked", file, "is being written by another process") };
  }
}
