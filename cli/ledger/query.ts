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
import { showProblem } from "./showProblem.ts";

/** Options of `fairlead ledger query`. */
export interface LedgerQueryOptions {
  readonly file: string;
  readonly of: "gpu-time" | "prices" | LedgerTable;
  readonly from: string | null;
  readonly to: string | null;
  /** `null`: what is usual for `of`. */
  readonly by: string | null;
  /** Entries `NAME=VALUE`. */
  readonly where: readonly string[];
  readonly limit: number;
  readonly output: "table" | "json" | "csv";
}

/** `fairlead ledger query`: a window of GPU time, queues, waits, evictions, nodes or prices; also while Fairlead writes the ledger. */
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
  const asked = { ...options, where: pairs };
  const { of } = options;
  if (of === "prices") {
    const parsed = parsePriceQuery(asked, now);
    if (!parsed.ok) return refuse(parsed.error, parsed.nextStep, io);
    return answerFrom(options.file, io, (db) => {
      const result = queryPrices(db, parsed.query);
      if (!result.ok) return result;
      const { answer } = result;
      return {
        ok: true,
        text: {
          json: () => priceAnswerRecord(answer),
          csv: () => priceAnswerCsv(answer),
          table: () => priceAnswerLines(answer),
        },
        output: options.output,
      };
    });
  }
  if (of !== "gpu-time") {
    const parsed = parseLedgerTableQuery(of, asked, now);
    if (!parsed.ok) return refuse(parsed.error, parsed.nextStep, io);
    return answerFrom(options.file, io, (db) => {
      const result = queryLedgerTable(db, parsed.query);
      if (!result.ok) return result;
      const { answer } = result;
      return {
        ok: true,
        text: {
          json: () => ledgerTableRecord(answer),
          csv: () => ledgerTableCsv(answer),
          table: () => ledgerTableLines(answer),
        },
        output: options.output,
      };
    });
  }
  const parsed = parseAccountsQuery({ ...asked, by: options.by ?? "team,state" }, now);
  if (!parsed.ok) return refuse(parsed.error, parsed.nextStep, io);
  return answerFrom(options.file, io, (db) => {
    const result = queryAccounts(db, parsed.query);
    if (!result.ok) return result;
    const { answer } = result;
    return {
      ok: true,
      text: { json: () => answerRecord(answer), csv: () => answerCsv(answer), table: () => answerLines(answer) },
      output: options.output,
    };
  });
}

/** An answer in each form, or why there is none. */
type Answered =
  | {
      readonly ok: true;
      readonly text: {
        readonly json: () => unknown;
        readonly csv: () => string;
        readonly table: () => readonly string[];
      };
      readonly output: LedgerQueryOptions["output"];
    }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

function answerFrom(file: string, io: Io, ask: (db: DatabaseSync) => Answered): ExitCode {
  const opened = openToQuery(file);
  if (!opened.ok) return showProblem(opened.problem, io);
  try {
    const answered = ask(opened.db);
    if (!answered.ok) return refuse(answered.error, answered.nextStep, io);
    const { text, output } = answered;
    if (output === "json") io.out(`${JSON.stringify(text.json(), null, 2)}\n`);
    else if (output === "csv") io.out(text.csv());
    else {
      const lines = text.table().map((line) => `${printable(line)}\n`);
      io.out(lines.join(""));
    }
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
