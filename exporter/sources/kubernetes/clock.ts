import { performance } from "node:perf_hooks";

/** Time and timers, so that a test can hold both in its hand. */
export interface Clock {
  /** Wall time, seconds since the epoch. */
  now(): number;
  /** Seconds since some fixed moment; never jumps. For ages and deadlines. */
  monotonic(): number;
  /** Calls back once after this many seconds, unless the returned function is called before. */
  schedule(seconds: number, callback: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now() / 1000,
  monotonic: () => performance.now() / 1000,
  schedule: (seconds, callback) => {
    const timer = setTimeout(callback, seconds * 1000);
    return () => clearTimeout(timer);
  },
};

/** Resolves after this many seconds, or as soon as the signal is aborted. */
export function pause(clock: Clock, seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const over = (): void => {
      cancel();
      signal.removeEventListener("abort", over);
      resolve();
    };
    const cancel = clock.schedule(seconds, over);
    signal.addEventListener("abort", over, { once: true });
  });
}
