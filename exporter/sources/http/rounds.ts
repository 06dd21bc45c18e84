import type { Source } from "../port.ts";
import type { GetPool } from "./getPool.ts";

/** What asks all at once, in rounds. */
export interface RoundsOptions {
  /** One round; `endedAt` gives the time of an answer, seconds since the epoch. */
  readonly ask: (endedAt: () => number) => Promise<void>;
  /** Sends the requests. It is closed on `stop`. */
  readonly pool: GetPool;
  /** There is one round in this time, seconds. */
  readonly intervalSeconds: number;
  /** Seconds since the epoch. */
  readonly now: () => number;
  /** Calls back once after this many seconds; the result cancels it. */
  readonly schedule: (seconds: number, callback: () => void) => () => void;
}

/** The part of a source that goes on by itself, and by hand. */
export interface Rounds extends Pick<Source<never>, "start" | "stop"> {
  /** One round at once, as of `now` (seconds since the epoch), or what is left of the one under way. */
  scrapeOnce(now: number): Promise<void>;
}

/** Asks at once, and then again in each interval after the first round has ended; never in two rounds at the same time. */
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
