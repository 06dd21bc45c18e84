import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";

/** The threads of a ledger: the module beside this one that each runs, and how a debugger shows it. */
const threadNames = { writerThread: "ledger", queryThread: "ledger-query", backupThread: "ledger-backup" } as const;

/**
 * Starts a thread of the ledger, which is TypeScript in the sources and JavaScript in `dist/`.
 *
 * Node removes types from TypeScript by a WebAssembly program, once in each thread. V8 13.6 keeps the code that such programs
 * call JavaScript by in one place for all threads, makes it anew after 1,000 calls, and sometimes frees what a thread that has
 * ended had freed before: one thread in some hundreds ended its process by SIGSEGV or SIGTRAP
 * (docs/decisions/0015-threads-and-types.md). So that code is never made anew. Compiled JavaScript has no types to remove.
 */
export function startThread(module: keyof typeof threadNames, workerData: unknown): Worker {
  const isSource = import.meta.url.endsWith(".ts");
  if (isSource) setFlagsFromString(`--wasm-wrapper-tiering-budget=${2 ** 31 - 1}`);
  const file = new URL(`./${module}${isSource ? ".ts" : ".js"}`, import.meta.url);
  return new Worker(file, { workerData, name: threadNames[module] });
}
