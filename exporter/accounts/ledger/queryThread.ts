import { parentPort, workerData } from "node:worker_threads";
import type { AccountsQuery, AccountsResult } from "./accountsQuery.ts";
import { openToQuery } from "./openToQuery.ts";
import { queryAccounts } from "./queryAccounts.ts";
import { sqliteProblem } from "./sqliteError.ts";

// The thread that answers questions, by a connection of its own that cannot write.
const port = parentPort;
if (port === null) throw new Error("the ledger's reader runs in a thread of its own");
const file: string = workerData;
const opened = openToQuery(file);
port.on("message", (query: AccountsQuery) => port.postMessage(answer(query)));

function answer(query: AccountsQuery): AccountsResult {
  if (!opened.ok)
    return { ok: false, fault: "ledger", error: opened.problem.message, nextStep: opened.problem.nextStep };
  try {
    return queryAccounts(opened.db, query);
  } catch (error) {
    const { message, nextStep } = sqliteProblem(error, file, "cannot be read");
    return { ok: false, fault: "ledger", error: message, nextStep };
  }
}
