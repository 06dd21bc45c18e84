import { performance } from "node:perf_hooks";

/** Time and timers, as one object, so that a test can control both. */
export interface Clock {
  /** Wall time, seconds since the epoch. */
  now(): number;
  /** Seconds since some fixed moment; they never jump. For ages and deadlines. */
  monotonic(): number;
  /** Seconds since some fixed moment in which the process waited and computed nothing. For what others take to answer. */
  idle(): number;
  /** Calls back once after this many seconds, unless the returned function is called before. */
  schedule(seconds: number, callback: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now() / 1000,
  monotonic: () => performance.now() / 1000,
  idle: () => performance.eventLoopUtilization().idle / 1000,
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

/** Work that is done repeatedly. */
export interface Repetition {
  /** Does the work for the first time, and resolves when that has ended. */
  start(): Promise<void>;
  /** Resolves when the work is no longer being done. */
  stop(): Promise<void>;
}

/** Repeats work with a pause of this many seconds after each time. It never rejects, and stops when the signal is aborted. */
export function repeat(clock: Clock, seconds: number, work: (signal: AbortSignal) => Promise<void>): Repetition {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> = Promise.resolve();
  const goOn = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(clock, seconds, signal);
      if (!signal.aborted) await work(signal);
    }
  };
  return {
    start: () => {
      const first = work(signal);
      running = first.then(goOn);
      return first;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
