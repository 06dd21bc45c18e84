import { statSync } from "node:fs";
import { checkLedger, type LedgerCheck } from "../../exporter/accounts/ledger/checkLedger.ts";
import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { ledgerVersion } from "../../exporter/accounts/ledger/schema.ts";
import { sqliteProblem } from "../../exporter/accounts/ledger/sqliteError.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import { coverageLines } from "../../exporter/publish/ledger/gpuTimeAnswer.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";
import { showProblem } from "../showProblem.ts";

/** `fairlead ledger check`: says whether a ledger is sound and its accounts close, and what it holds. */
export function ledgerCheck(file: string, io: Io): ExitCode {
  const opened = openToQuery(file);
  if (!opened.ok) return showProblem(opened.problem, io);
  const say = (line: string): void => io.out(printable(`${line}\n`));
  try {
    const check = checkLedger(opened.db);
    const good = check.wrong.length === 0;
    say(`ledger ${file}: ${good ? "sound, and the accounts close" : "NOT in order"}`);
    for (const line of contents(check, file)) say(`  ${line}`);
    if (good) return 0;
    for (const line of check.wrong) io.err(`fairlead: ${line}\n`);
    io.err(`Next step: ${nextStep(check)}\n`);
    return 1;
  } catch (error) {
    return showProblem(sqliteProblem(error, file, "cannot be checked"), io);
  } finally {
    opened.db.close();
  }
}

function contents(check: LedgerCheck, file: string): readonly string[] {
  const { rows, window, coverage } = check;
  const megabytes = (statSync(file).size / 1e6).toFixed(1);
  const lines = [
    `version ${ledgerVersion}, ${megabytes} MB`,
    `rows: ${rows.hourly} by hour, ${rows.daily} by day, ${rows.workloads} by day and workload; ${check.remembered} remembered`,
    `queues: ${rows.queues} rows by hour or day, ${rows.waits} ended waits, ${rows.evictions} evictions`,
  ];
  if (window === null || coverage === null) return [...lines, "no time is recorded yet"];
  return [...lines, `time: ${isoTime(window.from)} to ${isoTime(window.to)}`, ...coverageLines(coverage)];
}

function nextStep(check: LedgerCheck): string {
  return check.wrong.some((line) => line.startsWith("damaged"))
    ? "Restore a backup (fairlead ledger backup makes them), or move the file away to begin a new ledger."
    : "Do not base reports on the hours named above; this is a fault in Fairlead, please report it.";
}
