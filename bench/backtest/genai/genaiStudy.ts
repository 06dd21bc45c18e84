import { rounded } from "../intervals.ts";
import { type DutyTrace, idleRuns, sharesOf } from "./dutyTrace.ts";
import type { GenaiResult } from "./genaiResult.ts";
import { playIdle } from "./idleEngine.ts";
import { judgeCalls, unusedHours } from "./judgeCalls.ts";

/** The windows that are played, minutes; 30 is the default for batch work. */
export const windows = [5, 10, 15, 30, 60, 120, 240, 480] as const;
const defaultMinutes = 30;

/** Plays each window, and the advice with its default settings. The same trace gives the same result. */
export function genaiStudy(trace: DutyTrace, progress: (text: string) => void): GenaiResult {
  const shares = sharesOf(trace);
  const rows: GenaiResult["rows"] = windows.map((windowMinutes) => {
    progress(`window of ${windowMinutes} minutes`);
    const { idle } = playIdle(trace, windowMinutes * 60, false);
    return { name: `idle after ${windowMinutes} min`, windowMinutes, ...kept(judgeCalls(trace, idle)) };
  });
  progress("advice");
  const { advised } = playIdle(trace, defaultMinutes * 60, true);
  rows.push({ name: "advice `release_idle`", windowMinutes: null, ...kept(judgeCalls(trace, advised)) });
  return {
    trace: "genai",
    shares: { ...shares, meanPercent: rounded(shares.meanPercent) },
    unusedHours: rounded(unusedHours(trace)),
    oracle: restarts.map((minutes) => oracle(trace, minutes)),
    rows,
  };
}

/** Minutes that a restart costs; 10 is what the advice reckons with by default. */
const restarts = [10, 60] as const;

/** Frees each pod at once in every run that is worth its restart, and only then. */
function oracle(trace: DutyTrace, restartMinutes: number): GenaiResult["oracle"][number] {
  const worth = [...trace.values()].flatMap((samples) =>
    idleRuns(samples).flatMap(({ from, until, end }) => {
      const net = ((until ?? end) - from) / 3600 - (until === null ? 0 : restartMinutes / 60);
      return net > 0 ? [net] : [];
    }),
  );
  return { restartMinutes, netHours: rounded(worth.reduce((sum, net) => sum + net, 0)), calls: worth.length };
}

const kept = (judged: ReturnType<typeof judgeCalls>): ReturnType<typeof judgeCalls> => ({
  ...judged,
  freedHours: rounded(judged.freedHours),
  freedLateHours: rounded(judged.freedLateHours),
});
