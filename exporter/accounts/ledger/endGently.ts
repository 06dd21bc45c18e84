import type { Worker } from "node:worker_threads";
import { within } from "./within.ts";

/** The number that Node gives to a thread that has ended. */
const ended = -1;

/**
 * Waits until a thread that was asked to end has ended by itself; after this time it is terminated. A thread that is
 * terminated from outside may be doing anything, even ending, and there V8 has more than once ended the whole process instead
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
