import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { Problem } from "../../model/problem.ts";
import { type LedgerFault, ledgerProblem } from "./ledgerProblem.ts";

/**
 * The faults by SQLite's result codes (https://www.sqlite.org/rescode.html); extended codes contain these in their low byte.
 */
const faults: ReadonlyMap<number, LedgerFault> = new Map<number, LedgerFault>([
  [5, "ledger-locked"],
  [6, "ledger-locked"],
  [8, "ledger-read-only"],
  [10, "ledger-io-error"],
  [11, "ledger-corrupt"],
  [13, "ledger-disk-full"],
  [14, "ledger-read-only"],
  [26, "ledger-corrupt"],
]);

/**
 * Extended codes from a file system that cannot lock, or cannot share memory between processes: SQLITE_IOERR_UNLOCK, _RDLOCK,
 * _CHECKRESERVEDLOCK, _LOCK, _SHMOPEN, _SHMSIZE, _SHMLOCK, _SHMMAP, and SQLITE_PROTOCOL.
 */
const noLogCodes: ReadonlySet<number> = new Set([2058, 2314, 3594, 3850, 4618, 4874, 5130, 5386, 15]);

/** On a disk with less free space than this, an I/O error means that the shared-memory file could not grow. */
const nearlyFullBytes = 256 * 1024;

/** An error of SQLite as a problem; `doing` continues the message after the file's name ("cannot be read"). */
export function sqliteProblem(error: unknown, file: string, doing: string): Problem {
  const code = errorNumber(error, "errcode");
  const text = error instanceof Error ? error.message : String(error);
  const fault = code === null ? "ledger-rejected" : (faults.get(code & 0xff) ?? "ledger-rejected");
  if (code !== null && noLogCodes.has(code) && !isNearlyFull(file))
    return ledgerProblem(
      "ledger-no-wal",
      file,
      `${doing}: ${text} (${code}): the file system cannot lock or share memory`,
    );
  const full = fault === "ledger-io-error" && isNearlyFull(file);
  return ledgerProblem(
    full ? "ledger-disk-full" : fault,
    file,
    `${doing}: ${text}${code === null ? "" : ` (${code})`}`,
  );
}

/** Whether another attempt can help: it cannot if SQLite does not accept the statement itself. */
export function canTryAgain(problem: Problem): boolean {
  return problem.code !== "ledger-rejected";
}

function isNearlyFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize < nearlyFullBytes;
  } catch {
    return false;
  }
}

function errorNumber(error: unknown, key: string): number | null {
  if (!(error instanceof Error)) return null;
  const value: unknown = Reflect.get(error, key);
  return typeof value === "number" ? value : null;
}
