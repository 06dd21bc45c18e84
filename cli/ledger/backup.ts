import { existsSync, statSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { backupLedger } from "../../exporter/accounts/ledger/backupLedger.ts";
import { ledgerProblem } from "../../exporter/accounts/ledger/ledgerProblem.ts";
import type { ExporterAddress } from "../exporterAddress.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";
import { refuse, showProblem } from "../showProblem.ts";
import { fetchLedger } from "./fetchLedger.ts";

/** What is copied, and where to. */
export interface BackupOptions {
  /** The file of the ledger, or the running exporter whose ledger is copied. */
  readonly from: string | ExporterAddress;
  /** The file of the copy, which must not exist yet, or `-` for standard output. */
  readonly target: string;
}

/**
 * `fairlead ledger backup`: copies a ledger, also while Fairlead writes it. If the copy goes to standard output, messages go to
 * standard error.
 */
export async function ledgerBackup({ from, target }: BackupOptions, io: Io): Promise<ExitCode> {
  if (target !== "-") return await copyTo(from, target, target, io.out, io);
  if (io.isTerminal || io.outBytes === undefined)
    return refuse("a ledger is no text for a terminal", "Send standard output into a file (> ledger.db).", io);
  let folder: string | null = null;
  try {
    folder = await mkdtemp(path.join(tmpdir(), "fairlead-ledger-"));
    const file = path.join(folder, "ledger.db");
    const code = await copyTo(from, file, "standard output", io.err, io);
    if (code !== 0) return code;
    const handle = await open(file, "r");
    // The open file can be read to its end, and leaves nothing behind however this process ends.
    await rm(folder, { recursive: true, force: true });
    for await (const chunk of handle.createReadStream({ highWaterMark: 256 * 1024 })) await io.outBytes(chunk);
    return 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refuse(
      `the copy cannot be written: ${message}`,
      "Free some space in the folder for temporary files (TMPDIR, else /tmp).",
      io,
    );
  } finally {
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  }
}

async function copyTo(
  from: BackupOptions["from"],
  target: string,
  name: string,
  say: (text: string) => void,
  io: Io,
): Promise<ExitCode> {
  if (typeof from === "string") {
    const problem = backupLedger(from, target);
    if (problem !== null) return showProblem(problem, io);
  } else {
    if (existsSync(target)) return showProblem(ledgerProblem("ledger-backup-exists", target, "is there already"), io);
    const fetched = await fetchLedger(from, target);
    if (!fetched.ok) return refuse(fetched.error, fetched.nextStep, io);
  }
  const of = typeof from === "string" ? from : `the ledger of ${from.url}`;
  say(printable(`fairlead: ${name} is a copy of ${of} (${megabytes(target)} MB), checked\n`));
  return 0;
}

const megabytes = (file: string): string => (statSync(file).size / 1e6).toFixed(1);
