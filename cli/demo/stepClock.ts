import type { Clock } from "../../exporter/sources/kubernetes/clock.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";

/**
 * A clock that goes on by itself and can be pushed. What waits on it is called back when it is pushed, and never in between:
 * when something is tried again does not depend on how fast the machine is.
 */
export interface StepClock extends Clock {
  /** Lets `seconds` more go by at once, and calls back what falls due, in order. */
  push(seconds: number): void;
}

interface Timer {
  readonly dueAt: number;
  readonly fire: () => void;
}

/** The machine's clock, pushed on by the steps of a simulation: back-off and ages then take steps instead of minutes. */
export function createStepClock(): StepClock {
  let pushed = 0;
  const timers = new Set<Timer>();
  const monotonic = (): number => systemClock.monotonic() + pushed;
  return {
    now: () => systemClock.now() + pushed,
    monotonic,
    schedule: (seconds, callback) => {
      const cancel = (): void => void timers.delete(timer);
      const timer: Timer = {
        dueAt: monotonic() + seconds,
        fire: () => {
          cancel();
          callback();
        },
      };
      timers.add(timer);
      return cancel;
    },
    push: (seconds) => {
      pushed += seconds;
      const due = [...timers].filter(({ dueAt }) => dueAt <= monotonic());
      for (const timer of due.sort((a, b) => a.dueAt - b.dueAt)) if (timers.has(timer)) timer.fire();
    },
  };
}
