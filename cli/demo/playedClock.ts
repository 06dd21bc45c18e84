import type { Clock } from "../../exporter/sources/kubernetes/clock.ts";

/** A clock that shows the time of a simulated cluster, and whose callbacks run only in `elapse`. */
export interface PlayedClock extends Clock {
  /** Calls back what has fallen due, in order. */
  elapse(): void;
}

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
}

/** Creates a clock on which deadlines and pauses depend on the play, and never on how fast the machine is. */
export function createPlayedClock(time: Pick<Clock, "now" | "monotonic">): PlayedClock {
  const timers = new Set<Timer>();
  return {
    now: time.now,
    monotonic: time.monotonic,
    // Nothing computes in the time of a play.
    idle: time.monotonic,
    schedule(seconds, callback) {
      const timer = { dueAt: time.monotonic() + seconds, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    elapse() {
      const due = [...timers].filter(({ dueAt }) => dueAt <= time.monotonic());
      for (const timer of due.toSorted((a, b) => a.dueAt - b.dueAt)) if (timers.delete(timer)) timer.callback();
    },
  };
}
