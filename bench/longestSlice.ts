import { setImmediate as turn } from "node:timers/promises";

/** What a piece of work did to the main thread, milliseconds of its CPU time. */
export interface SliceTimes {
  readonly cpuMs: number;
  /** The longest time between two turns of the event loop. */
  readonly longestMs: number;
}

/** Does the work and watches the event loop meanwhile. CPU time, so that a busy machine does not make slices longer. */
export async function watchSlices<Result>(
  work: () => Result | Promise<Result>,
): Promise<{ readonly result: Result; readonly times: SliceTimes }> {
  let longestMs = 0;
  let isOver = false;
  await turn();
  const from = threadCpuMs();
  let last = from;
  const look = (): void => {
    const now = threadCpuMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const result = await work();
  isOver = true;
  look();
  return { result, times: { cpuMs: last - from, longestMs } };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
