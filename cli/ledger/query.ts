import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { parseAccountsQuery } from "../../exporter/accounts/ledger/parseAccountsQuery.ts";
import { queryAccounts } from "../../exporter/accounts/ledger/queryAccounts.ts";
import { answerCsv } from "../../exporter/publish/ledger/answerCsv.ts";
import { answerRecord } from "../../exporter/publish/ledger/answerRecord.ts";
import { answerLines } from "../../exporter/publish/ledger/answerTable.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";
import { showProblem } from "./showProblem.ts";

/** Options of `fairlead ledger query`. */
export interface LedgerQueryOptions {
  readonly file: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly by: string | null;
  /** Entries `NAME=VALUE`. */
  readonly where: readonly string[];
  readonly limit: number;
  readonly output: "table" | "json" | "csv";
}

/** `fairlead ledger query`: GPU time of a window by team, state, pool ...; also while Fairlead writes the ledger. */
export function ledgerQuery(options: LedgerQueryOptions, now: number, io: Io): ExitCode {
  const where = options.where.map((text) => splitOnce(text));
  const wrong = where.find((pair) => pair.length === 1);
  if (wrong !== undefined) {
    io.err(
      `fairlead: --where ${JSON.stringify(wrong[0])} has no value\nNext step: Use --where NAME=VALUE, such as team=ads.\n`,
    );
    return 1;
  }
  const pairs = where.map(([name = "", value = ""]) => [name, value] as const);
  const parsed = parseAccountsQuery({ ...options, where: pairs }, now);
  if (!parsed.ok) return refuse(parsed.error, parsed.nextStep, io);
  const opened = openToQuery(options.file);
  if (!opened.ok) return showProblem(opened.problem, io);
  try {
    const result = queryAccounts(opened.db, parsed.query);
    if (!result.ok) return refuse(result.error, result.nextStep, io);
    const { answer } = result;
    if (options.output === "json") io.out(`${JSON.stringify(answerRecord(answer), null, 2)}\n`);
    else if (options.output === "csv") io.out(answerCsv(answer));
    else
      io.out(
        answerLines(answer)
          .map((line) => `${printable(line)}\n`)
          .join(""),
      );
    return 0;
  } finally {
    opened.db.close();
  }
}

function refuse(error: string, nextStep: string, io: Io): ExitCode {
  io.err(`fairlead: ${error}\nNext step: ${nextStep}\n`);
  return 1;
}

function splitOnce(text: string): readonly string[] {
  const at = text.indexOf("=");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
