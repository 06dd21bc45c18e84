import { createReadStream } from "node:fs";
import { restoreLedger } from "../../exporter/accounts/ledger/restoreLedger.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";
import { refuse, showProblem } from "../showProblem.ts";

/** What is restored, and where to. */
export interface RestoreOptions {
  readonly file: string;
  /** A copy of a ledger, or `-` for standard input. */
  readonly from: string;
  readonly replace: boolean;
}

/** `fairlead ledger restore`: puts a copy of a ledger in its place. */
export async function ledgerRestore({ file, from, replace }: RestoreOptions, io: Io): Promise<ExitCode> {
  const copy = from === "-" ? io.input : createReadStream(from);
  if (copy === undefined) return refuse("there is no standard input", "Name the copy with --from FILE.", io);
  const restored = await restoreLedger(copy, file, replace);
  if (!restored.ok) return showProblem(restored.problem, io);
  const kept = restored.before === null ? "" : `; what was there is ${restored.before}`;
  io.out(printable(`fairlead: ${file} is restored and checked${kept}\n`));
  return 0;
}
