import type { Problem } from "../../model/problem.ts";
import { openToRead, removeDatabase } from "./ledgerFile.ts";
import { unsoundness } from "./openForWriting.ts";

/** What SQLite's own check finds wrong with a file that nobody writes; `null` if nothing. Reads all of it. */
export function damageOf(file: string): Problem | null {
  const opened = openToRead(file);
  if (!opened.ok) return opened.problem;
  try {
    return unsoundness(opened.db, file);
  } finally {
    opened.db.close();
  }
}

/** Removes an unfinished file; what cannot be removed now is removed by the next attempt, which knows it by its name. */
export function removeUnfinished(file: string): void {
  try {
    removeDatabase(file);
  } catch {
    // Whoever asked has a better message, or a result.
  }
}
