import type { Clock } from "../../../exporter/sources/kubernetes/clock.ts";

/** A clock that goes on only when it is advanced. */
export interface FakeClock extends Clock {
  /** Goes on, and calls back everything that falls due on the way, in order. */
  advance(seconds: number): void;
  /** Goes on while the process computes: nothing is called back. */
  compute(seconds: number): void;
  /** Seconds until each timer that is set, soonest first. */
  timers(): readonly number[];
}

export function createFakeClock(start = 1_000_000): FakeClock {
  let elapsed = 0;
  let computed = 0;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    idle: () => elapsed - computed,
    schedule: (seconds, callback) => {
      const timer = { at: elapsed + seconds, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance: (seconds) => {
      const end = elapsed + seconds;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        elapsed = Math.max(elapsed, next.at);
        next.callback();
      }
      elapsed = end;
    },
    compute: (seconds) => {
      elapsed += seconds;
      computed += seconds;
    },
    timers: () => timers.map(({ at }) => at - elapsed).sort((one, other) => one - other),
  };
}
