import type { Source } from "../port.ts";
import type { GetPool } from "./getPool.ts";

/** Settings of rounds in which all targets are asked. */
export interface RoundsOptions {
  /** Does one round; `endedAt` returns the time of an answer, seconds since the epoch. */
  readonly ask: (endedAt: () => number) => Promise<void>;
  /** Sends the requests. It is closed on `stop`. */
  readonly pool: GetPool;
  /** Time from the start of one round to the next, seconds. */
  readonly intervalSeconds: number;
  /** The current time, seconds since the epoch. */
  readonly now: () => number;
  /** Calls back once after this many seconds; the returned function cancels the call. */
  readonly schedule: (seconds: number, callback: () => void) => () => void;
}

/** The part of a source that does rounds, by itself or by hand. */
export interface Rounds extends Pick<Source<never>, "start" | "stop"> {
  /** Does one round immediately, as of `now` (seconds since the epoch), or waits for the end of the one under way. */
  scrapeOnce(now: number): Promise<void>;
}

/** Creates rounds: the first begins immediately, and after it there is one in each interval, but never two at the same time. */
export function createRounds({ ask, pool, intervalSeconds, now, schedule }: RoundsOptions): Rounds {
  let underWay: Promise<void> | null = null;
  let cancelNext: (() => void) | null = null;
  let isRunning = false;

  const round = (endedAt: () => number): Promise<void> => {
    underWay ??= ask(endedAt).finally(() => {
      underWay = null;
    });
    return underWay;
  };

  const tick = (): void => {
    if (!isRunning) return;
    void round(now);
    cancelNext = schedule(intervalSeconds, tick);
  };

  return {
    start: async () => {
      isRunning = true;
      await round(now);
      if (isRunning) cancelNext = schedule(intervalSeconds, tick);
    },
    stop: async () => {
      isRunning = false;
      cancelNext?.();
      await pool.close();
      await underWay;
    },
    scrapeOnce: (at) => round(() => at),
  };
}
