import type { Problem } from "../../model/problem.ts";
import { openToRead, removeDatabase } from "./ledgerFile.ts";
import { unsoundness } from "./openForWriting.ts";

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

/** Removes an unfinished file; if that fails, the next attempt knows it by its name and removes it. */
export function removeUnfinished(file: string): void {
  try {
    removeDatabase(file);
  } catch {
    // The caller has a better message, or a result.
  }
}
