import type { DatabaseSync } from "node:sqlite";

/** Runs `work` in a transaction: either all of its changes are written, or none if it throws. */
export function inTransaction<Result>(db: DatabaseSync, work: () => Result): Result {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function rollBack(db: DatabaseSync): void {
  if (!db.isTransaction) return; // SQLite has done so itself: disk full, I/O error.
  try {
    db.exec("ROLLBACK");
  } catch {
    // The first error is the one to report.
  }
}

/** Reads everything from one moment of a file that another connection may be writing. */
export function atOneMoment<Result>(db: DatabaseSync, read: () => Result): Result {
  db.exec("BEGIN");
  try {
    return read();
  } finally {
    db.exec("COMMIT");
  }
}
