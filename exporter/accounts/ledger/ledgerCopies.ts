import { type FileHandle, mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import type { Problem } from "../../model/problem.ts";
import type { BackupOrder, BackupReport } from "./backupThread.ts";
import { ledgerProblem } from "./ledgerProblem.ts";
import { startThread } from "./ledgerThread.ts";

/**
 * A checked copy of a ledger in a file that no longer has a name. The file disappears with `close`, or when the process ends.
 */
export interface LedgerCopy {
  readonly bytes: number;
  /** Reads the whole copy, from its beginning. */
  readonly read: () => Readable;
  /** Deletes the copy; after that, the next one may be taken. */
  readonly close: () => Promise<void>;
}

/** A copy, or the reason why there is none; `busy` means that another copy is being made, or is not closed yet. */
export type TakenCopy =
  | { readonly ok: true; readonly copy: LedgerCopy }
  | { readonly ok: false; readonly problem: Problem | "busy" };

/** Copies a ledger as it is at one moment, outside of the thread that asks. Only one copy may exist at a time. */
export interface LedgerCopies {
  /** Takes a copy; never throws. */
  take(): Promise<TakenCopy>;
}

/**
 * Copies of the ledger in this file. They are made in the folder for temporary files, and need as much space there as the
 * ledger.
 */
export function createLedgerCopies(file: string): LedgerCopies {
  let isBusy = false;

  async function make(): Promise<TakenCopy> {
    await removeLeftBehind();
    const folder = await mkdtemp(path.join(tmpdir(), ownPrefix));
    try {
      const target = path.join(folder, "ledger.db");
      const { problem } = await copyInThread({ file, target });
      if (problem !== null) return { ok: false, problem };
      const handle = await open(target, "r");
      return { ok: true, copy: await copyOf(handle) };
    } finally {
      // A file that is open can still be read, and nothing has to be removed later.
      await rm(folder, { recursive: true, force: true });
    }
  }

  async function copyOf(handle: FileHandle): Promise<LedgerCopy> {
    const { size } = await handle.stat();
    return {
      bytes: size,
      read: () => handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 }),
      close: async () => {
        await handle.close();
        isBusy = false;
      },
    };
  }

  return {
    async take() {
      if (isBusy) return { ok: false, problem: "busy" };
      isBusy = true;
      let taken: TakenCopy;
      try {
        taken = await make();
      } catch (error) {
        const found = `cannot be copied: ${error instanceof Error ? error.message : String(error)}`;
        taken = { ok: false, problem: ledgerProblem("ledger-backup-temporary", file, found) };
      }
      if (!taken.ok) isBusy = false;
      return taken;
    },
  };
}

const ownPrefix = `fairlead-backup-${process.pid}-`;

/**
 * Removes copies that a process with the same number left when it was killed: in a container all processes have the same
 * number.
 */
async function removeLeftBehind(): Promise<void> {
  for (const name of await readdir(tmpdir()))
    if (name.startsWith(ownPrefix)) await rm(path.join(tmpdir(), name), { recursive: true, force: true });
}

function copyInThread(order: BackupOrder): Promise<BackupReport> {
  return new Promise((resolve, reject) => {
    const worker = startThread("backupThread", order);
    // A process that ends does not wait for the thread.
    worker.unref();
    worker.on("message", (report: BackupReport) => resolve(report));
    worker.on("error", reject);
    worker.on("exit", (code) => reject(new Error(`its thread ended with ${code}`)));
  });
}
