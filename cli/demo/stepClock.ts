import type { Clock } from "../../exporter/sources/kubernetes/clock.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { createPlayedClock } from "./playedClock.ts";

/**
 * A clock that goes on by itself and can be pushed. What waits on it is called back when it is pushed, and never in between:
 * when something is tried again does not depend on how fast the machine is.
 */
export interface StepClock extends Clock {
  /** Lets `seconds` more go by at once, and calls back what falls due, in order. */
  push(seconds: number): void;
}

/** The machine's clock, pushed on by the steps of a simulation: back-off and ages then take steps instead of minutes. */
export function createStepClock(): StepClock {
  let pushed = 0;
  const clock = createPlayedClock({
    now: () => systemClock.now() + pushed,
    monotonic: () => systemClock.monotonic() + pushed,
  });
  return {
    now: clock.now,
    monotonic: clock.monotonic,
    schedule: clock.schedule,
    push(seconds) {
      pushed += seconds;
      clock.elapse();
    },
  };
}
