import type { Worker } from "node:worker_threads";
import { startThread as startAny } from "../../kernel/startThread.ts";

/** The threads of a ledger: the module in this folder that each runs, and its name in a debugger. */
const threadNames = { writerThread: "ledger", queryThread: "ledger-query", backupThread: "ledger-backup" } as const;

/** Starts a thread of the ledger. */
export function startThread(module: keyof typeof threadNames, workerData: unknown): Worker {
  return startAny({ from: import.meta.url, module, name: threadNames[module] }, workerData);
}
