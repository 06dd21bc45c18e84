import { statSync } from "node:fs";
import { mergeLedgers } from "../../exporter/accounts/ledger/mergeLedgers.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";
import { refuse, showProblem } from "../showProblem.ts";

/** `fairlead ledger merge`: makes one ledger of those of several replicas, each hour from the one that covered more of it. */
export function ledgerMerge(files: readonly string[], target: string, io: Io): ExitCode {
  if (files.length < 2)
    return refuse("one ledger alone is merged with nothing", "name the ledgers of all replicas.", io);
  const merged = mergeLedgers(files, target);
  if (!merged.ok) return showProblem(merged.problem, io);
  const megabytes = (statSync(target).size / 1e6).toFixed(1);
  io.out(printable(`fairlead: ${target} is made of ${files.length} ledgers (${megabytes} MB), checked\n`));
  for (const { file, takenSeconds, coveredSeconds } of merged.parts)
    io.out(printable(`  ${hours(takenSeconds)} h of ${file}, which covers ${hours(coveredSeconds)} h\n`));
  return 0;
}

const hours = (seconds: number): string => (seconds / 3600).toFixed(1);
