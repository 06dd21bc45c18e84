import type { DatabaseSync } from "node:sqlite";
import type { LedgerTable } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { parseAccountsQuery } from "../../exporter/accounts/ledger/parseAccountsQuery.ts";
import { parseLedgerTableQuery } from "../../exporter/accounts/ledger/parseLedgerTableQuery.ts";
import { parsePriceQuery, queryPrices } from "../../exporter/accounts/ledger/priceQuery.ts";
import { queryAccounts } from "../../exporter/accounts/ledger/queryAccounts.ts";
import { queryLedgerTable } from "../../exporter/accounts/ledger/queryLedgerTable.ts";
import { answerCsv, answerLines, answerRecord } from "../../exporter/publish/ledger/gpuTimeAnswer.ts";
import {
  ledgerTableCsv,
  ledgerTableLines,
  ledgerTableRecord,
} from "../../exporter/publish/ledger/ledgerTableAnswer.ts";
import { priceAnswerCsv, priceAnswerLines, priceAnswerRecord } from "../../exporter/publish/ledger/priceAnswer.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";
import { refuse, showProblem } from "../showProblem.ts";

/** Options of `fairlead ledger query`. */
export interface LedgerQueryOptions {
  readonly file: string;
  readonly of: "gpu-time" | "prices" | LedgerTable;
  readonly from: string | null;
  readonly to: string | null;
  /** Names to group by, separated by commas; `null`: the usual grouping of `of`. */
  readonly by: string | null;
  /** Filters, each `NAME=VALUE`. */
  readonly where: readonly string[];
  readonly limit: number;
  readonly output: "table" | "json" | "csv";
}

/**
 * `fairlead ledger query`: prints a window of GPU time, queues, waits, evictions, nodes or prices, also while Fairlead writes
 * the ledger.
 */
export function ledgerQuery(options: LedgerQueryOptions, now: number, io: Io): ExitCode {
  const where = options.where.map((text) => splitOnce(text));
  const wrong = where.find((pair) => pair.length === 1);
  if (wrong !== undefined)
    return refuse(`--where ${JSON.stringify(wrong[0])} has no value`, "Use --where NAME=VALUE, such as team=ads.", io);
  const pairs = where.map(([name = "", value = ""]) => [name, value] as const);
  const asked = { ...options, where: pairs };
  const { file, of } = options;
  if (of === "prices") {
    const forms = { json: priceAnswerRecord, csv: priceAnswerCsv, table: priceAnswerLines };
    return answerFrom(file, parsePriceQuery(asked, now), queryPrices, forms, options.output, io);
  }
  if (of !== "gpu-time") {
    const forms = { json: ledgerTableRecord, csv: ledgerTableCsv, table: ledgerTableLines };
    return answerFrom(file, parseLedgerTableQuery(of, asked, now), queryLedgerTable, forms, options.output, io);
  }
  const parsed = parseAccountsQuery({ ...asked, by: options.by ?? "team,state" }, now);
  const forms = { json: answerRecord, csv: answerCsv, table: answerLines };
  return answerFrom(file, parsed, queryAccounts, forms, options.output, io);
}

interface Refused {
  readonly ok: false;
  readonly error: string;
  readonly nextStep: string;
}

/** An answer in each form. */
interface Forms<Answer> {
  readonly json: (answer: Answer) => unknown;
  readonly csv: (answer: Answer) => string;
  readonly table: (answer: Answer) => readonly string[];
}

function answerFrom<Query, Answer>(
  file: string,
  parsed: Refused | { readonly ok: true; readonly query: Query },
  ask: (db: DatabaseSync, query: Query) => Refused | { readonly ok: true; readonly answer: Answer },
  forms: Forms<Answer>,
  output: LedgerQueryOptions["output"],
  io: Io,
): ExitCode {
  if (!parsed.ok) return refuse(parsed.error, parsed.nextStep, io);
  const opened = openToQuery(file);
  if (!opened.ok) return showProblem(opened.problem, io);
  try {
    const result = ask(opened.db, parsed.query);
    if (!result.ok) return refuse(result.error, result.nextStep, io);
    if (output === "json") io.out(`${JSON.stringify(forms.json(result.answer), null, 2)}\n`);
    else if (output === "csv") io.out(forms.csv(result.answer));
    else
      io.out(
        forms
          .table(result.answer)
          .map((line) => `${printable(line)}\n`)
          .join(""),
      );
    return 0;
  } finally {
    opened.db.close();
  }
}

function splitOnce(text: string): readonly string[] {
  const at = text.indexOf("=");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
