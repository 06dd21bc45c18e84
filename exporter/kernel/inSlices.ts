import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { type Steps, withRests } from "./steps.ts";

/** For so long, milliseconds, work keeps the process from answering requests. */
const sliceMilliseconds = 10;

/** Does the work with a turn of the event loop whenever it has run for 10 ms. */
export function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  return withRests(steps, sliceMilliseconds, () => performance.now(), setImmediate);
}
