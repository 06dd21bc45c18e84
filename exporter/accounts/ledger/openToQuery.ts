import type { DatabaseSync } from "node:sqlite";
import type { Problem } from "../../model/problem.ts";
import { type FileKnowledge, type OpenedDatabase, openToRead, refusalToRead } from "./ledgerFile.ts";
import { ledgerProblem } from "./ledgerProblem.ts";
import { versionOf } from "./openForWriting.ts";
import { ledgerVersion } from "./schema.ts";
import { sqliteProblem } from "./sqliteError.ts";

/** Opens a ledger of this version for questions, whether or not a process writes it. */
export function openToQuery(file: string, knownAs: FileKnowledge = "unknown"): OpenedDatabase {
  const refused = knownAs === "held" ? null : refusalToRead(file);
  if (refused !== null) return { ok: false, problem: refused };
  const opened = openToRead(file);
  if (!opened.ok) return opened;
  const problem = versionProblem(opened.db, file);
  if (problem === null) return opened;
  opened.db.close();
  return { ok: false, problem };
}

function versionProblem(db: DatabaseSync, file: string): Problem | null {
  try {
    const version = versionOf(db);
    if (version === ledgerVersion) return null;
    const found = `has version ${version}; this Fairlead reads version ${ledgerVersion}`;
    return ledgerProblem(version > ledgerVersion ? "ledger-newer-version" : "ledger-older-version", file, found);
  } catch (error) {
    return sqliteProblem(error, file, "cannot be read");
  }
}
