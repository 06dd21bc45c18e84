import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../kernel/startThread.ts";

/** The question that the thread answers. */
export interface HashQuestion {
  readonly password: string;
  readonly hash: string;
}

/** Whether a password is the one of a bcrypt hash. Rejects when that could not be found out. */
export type ComparePassword = (question: HashQuestion) => Promise<boolean>;

/** The clock and the waiting of the pauses after wrong passwords, in milliseconds. */
interface RestClock {
  readonly now: () => number;
  readonly wait: (milliseconds: number) => Promise<unknown>;
}

const steady: RestClock = {
  now: () => performance.now(),
  wait: (milliseconds) => wait(milliseconds, undefined, { ref: false }),
};

/**
 * Compares passwords in a thread of their own, one after the other in the order of the calls. After a wrong one it rests for as
 * long as that took, so that guessing never takes more than half of a core. The thread starts with the first call, and does not
 * keep the process from ending.
 */
export function createPasswords(clock: RestClock = steady): ComparePassword {
  let thread: Worker | null = null;
  let before: Promise<void> = Promise.resolve();
  const ask = (question: HashQuestion): Promise<boolean> => {
    thread ??= startThread({ from: import.meta.url, module: "hashThread", name: "passwords" });
    const asked = thread;
    return new Promise<boolean>((resolve, reject) => {
      const forget = (): void => {
        asked.off("message", received).off("error", lost).off("exit", lost).unref();
      };
      const received = (isRight: unknown): void => {
        forget();
        resolve(isRight === true);
      };
      const lost = (): void => {
        forget();
        thread = null;
        reject(new Error("the thread that compares passwords has ended"));
      };
      asked.on("message", received).on("error", lost).on("exit", lost).ref();
      asked.postMessage(question);
    });
  };
  return async (question) => {
    const turn = before;
    let leave = (): void => {};
    before = new Promise((resolve) => {
      leave = resolve;
    });
    await turn;
    const from = clock.now();
    try {
      const isRight = await ask(question);
      if (isRight) leave();
      else void clock.wait(clock.now() - from).then(leave);
      return isRight;
    } catch (error) {
      leave();
      throw error;
    }
  };
}
