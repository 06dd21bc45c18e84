import type { Worker } from "node:worker_threads";
import { startThread as startAny } from "../../kernel/startThread.ts";

/** The number that Node gives to a thread that has ended. */
const ended = -1;

/**
 * Waits until a thread that was asked to end has ended by itself; after this time it is terminated. A thread that is terminated
 * from outside may be doing anything, even ending, and in that case V8 has more than once ended the whole process instead
 * (https://github.com/nodejs/node/issues/43182, https://github.com/nodejs/node/issues/62114).
 */
export async function endGently(worker: Worker, patienceMilliseconds: number): Promise<void> {
  if (worker.threadId !== ended) {
    const exit = new Promise<void>((resolve) => {
      worker.once("exit", () => resolve());
    });
    await within(patienceMilliseconds, exit);
  }
  await worker.terminate();
}

/** Waits until `done` resolves, but no longer than this. */
export async function within(milliseconds: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([done, late]);
  if (timer !== null) clearTimeout(timer);
}

/** The threads of a ledger: the module in this folder that each runs, and its name in a debugger. */
const threadNames = { writerThread: "ledger", queryThread: "ledger-query", backupThread: "ledger-backup" } as const;

/** Starts a thread of the ledger. */
export function startThread(module: keyof typeof threadNames, workerData: unknown): Worker {
  return startAny({ from: import.meta.url, module, name: threadNames[module] }, workerData);
}
