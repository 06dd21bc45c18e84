import type { Worker } from "node:worker_threads";
import { within } from "./within.ts";

/** What Node gives as the number of a thread that has ended. */
const ended = -1;

/**
 * Waits until a thread that was asked to end has done so by itself; after this time it is ended, whatever it does. A thread that
 * is ended from outside may be in the midst of anything, its own end included, where V8 has more than once ended the process
 * instead (https://github.com/nodejs/node/issues/43182, https://github.com/nodejs/node/issues/62114).
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
