import { type DutyTrace, idleRuns } from "./dutyTrace.ts";
import type { Call } from "./idleEngine.ts";

/** What calls of pods as idle came to, had each of them been acted on. Hours are GPU-hours: a pod has one GPU. */
export interface Judged {
  readonly calls: number;
  /** Calls of which the trace says whether they were right: it goes on for an hour after them, or the pod was used before. */
  readonly judged: number;
  /** Calls after which the pod stayed unused for an hour and more. */
  readonly right: number;
  /** Calls at which the pod was in use by less than what counts as activity (0 < duty <= 5 %). */
  readonly inUse: number;
  /** Calls after which it was used again before the trace ends. */
  readonly cameBack: number;
  /** GPU-hours from the calls until the pod was used again, or the trace ends. */
  readonly freedHours: number;
  /** The same if the call is acted on four hours later, unless the pod was used by then. */
  readonly freedLateHours: number;
}

const hourSeconds = 3600;
const lateSeconds = 4 * hourSeconds;

/** Compares calls with what the trace knows of the time after them. Pure. */
export function judgeCalls(trace: DutyTrace, calls: readonly Call[]): Judged {
  let [judged, right, inUse, cameBack, freed, late] = [0, 0, 0, 0, 0, 0];
  for (const { pod, at } of calls) {
    const samples = trace.get(pod) ?? [];
    const run = idleRuns(samples).find(({ from, until, end }) => from <= at && (until ?? end + 1) > at);
    const next = samples.find((sample) => sample.at > at && sample.percent > 0)?.at ?? null;
    if (run === undefined) inUse += 1;
    const end = samples.at(-1)?.at ?? at;
    const idle = run === undefined ? 0 : (next ?? end) - at;
    if (next !== null) cameBack += 1;
    if (idle >= hourSeconds) right += 1;
    if (next !== null || idle >= hourSeconds) judged += 1;
    freed += idle;
    late += Math.max(0, idle - lateSeconds);
  }
  return {
    calls: calls.length,
    judged,
    right,
    inUse,
    cameBack,
    freedHours: freed / hourSeconds,
    freedLateHours: late / hourSeconds,
  };
}

/** GPU-hours from samples of 0 until the next use. Pure. */
export function unusedHours(trace: DutyTrace): number {
  let seconds = 0;
  for (const samples of trace.values())
    for (const { from, until, end } of idleRuns(samples)) seconds += (until ?? end) - from;
  return seconds / hourSeconds;
}
