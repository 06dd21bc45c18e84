import { existsSync } from "node:fs";
import path from "node:path";
import type { Problem } from "../../model/problem.ts";
import {
  type FileKnowledge,
  openToRead,
  putInPlace,
  refusalToRead,
  removeDatabase,
  removeUnfinished,
} from "./ledgerFile.ts";
import { ledgerProblem } from "./ledgerProblem.ts";
import { damageOf } from "./openForWriting.ts";
import { sqliteProblem } from "./sqliteError.ts";

/**
 * Copies a ledger as it is at one moment, even while another process writes it. The copy is made in one reading transaction
 * (VACUUM INTO), because SQLite's online backup would start again with every cycle. It is checked before it gets its name, and
 * an existing file is never replaced. Returns the problem that prevented the copy; `null` if the copy was made.
 */
export function backupLedger(file: string, target: string, knownAs: FileKnowledge = "unknown"): Problem | null {
  const refused = knownAs === "held" ? null : refusalToRead(file);
  if (refused !== null) return refused;
  if (existsSync(target)) return ledgerProblem("ledger-backup-exists", target, "is there already");
  if (!existsSync(path.dirname(target))) {
    return ledgerProblem("ledger-backup-folder", target, `has no place: ${path.dirname(target)} is no folder`);
  }
  const opened = openToRead(file);
  if (!opened.ok) return opened.problem;
  const unfinished = `${target}.unfinished`;
  try {
    removeDatabase(unfinished);
    opened.db.prepare("VACUUM INTO ?").run(unfinished);
    const problem = damageOf(unfinished);
    if (problem !== null) return problem;
    putInPlace(unfinished, target);
    return null;
  } catch (error) {
    return sqliteProblem(error, target, "cannot be written");
  } finally {
    opened.db.close();
    removeUnfinished(unfinished);
  }
}
