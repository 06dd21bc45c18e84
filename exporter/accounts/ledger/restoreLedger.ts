import { existsSync, renameSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Problem } from "../../model/problem.ts";
import { lookAtFile, putInPlace, removeDatabase, writeRefusal } from "./ledgerFile.ts";
import { ledgerProblem } from "./ledgerProblem.ts";
import { freeName, realName } from "./openedFile.ts";
import { takeoverRefusal } from "./openForWriting.ts";
import { ledgerVersion } from "./schema.ts";
import { sqliteProblem } from "./sqliteError.ts";
import { lockForWriting } from "./writerLock.ts";

/** The result of a restore, or the reason why nothing was done. */
export type Restored =
  | { readonly ok: true /** New name of the earlier ledger; `null` if none existed. */; readonly before: string | null }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Puts a copy of a ledger in its place, where no process may be writing. The copy is written next to the place and checked
 * before it gets its name. An existing ledger is replaced only if `replace` allows it, and is kept under another name.
 */
export async function restoreLedger(
  copy: AsyncIterable<Uint8Array>,
  named: string,
  replace: boolean,
): Promise<Restored> {
  const file = realName(named);
  const found = lookAtFile(file);
  if (found.kind === "refused" && (!replace || found.problem.code === "ledger-directory-missing")) {
    return { ok: false, problem: found.problem };
  }
  const refusal = writeRefusal(file);
  if (refusal !== null) return { ok: false, problem: refusal };
  if (found.kind !== "none" && !replace) {
    return { ok: false, problem: ledgerProblem("ledger-restore-exists", file, "is there already") };
  }
  const locked = lockForWriting(file);
  if (!locked.ok) return locked;
  const arriving = `${file}.arriving`;
  try {
    await write(copy, arriving);
    const problem = checkArrived(arriving);
    if (problem !== null) return { ok: false, problem };
    const before = existsSync(file) ? freeName((number) => `${file}.before-restore-${number}`) : null;
    if (before !== null) moveAway(file, before);
    putInPlace(arriving, file);
    return { ok: true, before };
  } catch (error) {
    return { ok: false, problem: sqliteProblem(error, file, "cannot be restored") };
  } finally {
    removeDatabase(arriving);
    locked.lock.release();
  }
}

async function write(copy: AsyncIterable<Uint8Array>, file: string): Promise<void> {
  removeDatabase(file);
  const handle = await open(file, "wx");
  try {
    for await (const bytes of copy) await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
}

/** The reason why the copy is not a sound ledger of a version that this Fairlead can continue; `null` if it is. */
function checkArrived(file: string): Problem | null {
  const found = lookAtFile(file);
  if (found.kind === "refused") return found.problem;
  if (found.kind !== "ledger") return ledgerProblem("ledger-restore-empty", file, "is empty: nothing arrived");
  return takeoverRefusal(file, ledgerVersion);
}

/** Renames a ledger. The log moves with the file, which is incomplete without it. */
function moveAway(file: string, to: string): void {
  for (const suffix of ["-wal", "-shm", ""])
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${to}${suffix}`);
}
