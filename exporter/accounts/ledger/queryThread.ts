import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import {
  type LedgerQuestion,
  type LedgerResult,
  type LedgerTopic,
  type LedgerTopics,
  ledgerFailure,
} from "./ledgerQuestion.ts";
import { openToQuery } from "./openToQuery.ts";
import { queryPrices } from "./priceQuery.ts";
import { queryAccounts } from "./queryAccounts.ts";
import { queryAdvice } from "./queryAdvice.ts";
import { queryJobs } from "./queryJobs.ts";
import { queryLedgerTable } from "./queryLedgerTable.ts";
import { queryPools } from "./queryPools.ts";
import { queryStarts } from "./queryStarts.ts";
import { sqliteProblem } from "./sqliteError.ts";
import { queryWithheld } from "./withheld.ts";

type Answers = {
  readonly [Topic in LedgerTopic]: (
    db: DatabaseSync,
    query: LedgerTopics[Topic]["query"],
  ) => LedgerResult<LedgerTopics[Topic]["answer"]>;
};

const answers: Answers = {
  "gpu-time": queryAccounts,
  "ledger-table": queryLedgerTable,
  prices: queryPrices,
  pools: queryPools,
  starts: queryStarts,
  advice: queryAdvice,
  withheld: queryWithheld,
  jobs: queryJobs,
};

// This thread answers questions, over a connection of its own that cannot write. It ends when it is sent null.
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

function answer<Topic extends LedgerTopic>({
  about,
  query,
}: LedgerQuestion<Topic>): LedgerResult<LedgerTopics[Topic]["answer"]> {
  if (!opened.ok) return ledgerFailure(opened.problem.message, opened.problem.nextStep);
  try {
    return answers[about](opened.db, query);
  } catch (error) {
    const { message, nextStep } = sqliteProblem(error, file, "cannot be read");
    return ledgerFailure(message, nextStep);
  }
}
