import { parentPort, workerData } from "node:worker_threads";
import type { LedgerQuestion, LedgerResult } from "./ledgerQuestion.ts";
import { openToQuery } from "./openToQuery.ts";
import { queryPrices } from "./priceQuery.ts";
import { queryAccounts } from "./queryAccounts.ts";
import { queryAdvice } from "./queryAdvice.ts";
import { queryJobs } from "./queryJobs.ts";
import { queryLedgerTable } from "./queryLedgerTable.ts";
import { queryPools } from "./queryPools.ts";
import { sqliteProblem } from "./sqliteError.ts";
import { queryWithheld } from "./withheld.ts";

// The thread that answers questions, over a connection of its own that cannot write. It ends when it is sent null.
const port = parentPort;
if (port === null) throw new Error("the ledger's reader runs in a thread of its own");
const file: string = workerData;
const opened = openToQuery(file, "held");
port.on("message", (question: LedgerQuestion | null) => {
  if (question === null) end();
  else port.postMessage(answer(question));
});

function end(): void {
  if (opened.ok) opened.db.close();
  port?.close();
}

function answer(question: LedgerQuestion): LedgerResult {
  if (!opened.ok) return failed(opened.problem.message, opened.problem.nextStep);
  try {
    switch (question.about) {
      case "gpu-time":
        return { about: "gpu-time", result: queryAccounts(opened.db, question.query) };
      case "ledger-table":
        return { about: "ledger-table", result: queryLedgerTable(opened.db, question.query) };
      case "prices":
        return { about: "prices", result: queryPrices(opened.db, question.query) };
      case "pools":
        return { about: "pools", result: queryPools(opened.db, question.query) };
      case "advice":
        return { about: "advice", result: queryAdvice(opened.db, question.query) };
      case "withheld":
        return { about: "withheld", result: queryWithheld(opened.db, question.query) };
      case "jobs":
        return { about: "jobs", result: queryJobs(opened.db, question.query) };
    }
  } catch (error) {
    const { message, nextStep } = sqliteProblem(error, file, "cannot be read");
    return failed(message, nextStep);
  }
}

function failed(error: string, nextStep: string): LedgerResult {
  return { about: "nothing", result: { ok: false, fault: "ledger", error, nextStep } };
}
