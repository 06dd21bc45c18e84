import { statSync } from "node:fs";
import { backupLedger } from "../../exporter/accounts/ledger/backupLedger.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";
import { showProblem } from "./showProblem.ts";

/** `fairlead ledger backup`: copies a ledger, also while Fairlead writes it. */
export function ledgerBackup(file: string, target: string, io: Io): ExitCode {
  const problem = backupLedger(file, target);
  if (problem !== null) return showProblem(problem, io);
  const megabytes = (statSync(target).size / 1e6).toFixed(1);
  io.out(printable(`fairlead: ${target} is a copy of ${file} (${megabytes} MB), checked\n`));
  return 0;
}
