import { describe, expect, it } from "vitest";
import { acmeStudy } from "../../../../bench/backtest/acme/acmeStudy.ts";
import { type DutySample, idleRuns, sharesOf } from "../../../../bench/backtest/genai/dutyTrace.ts";
import { playIdle } from "../../../../bench/backtest/genai/idleEngine.ts";
import { judgeCalls, unusedHours } from "../../../../bench/backtest/genai/judgeCalls.ts";

const sampleSeconds = 57;
/** A pod that is used until a minute, and from another one on; samples every 57 s for three hours. */
function pod(usedUntil: number, usedFrom: number, percent = 80): readonly DutySample[] {
  return Array.from({ length: 190 }, (_, i) => {
    const minute = (i * sampleSeconds) / 60;
    return { at: 1_662_858_720 + i * sampleSeconds, percent: minute < usedUntil || minute >= usedFrom ? percent : 0 };
  });
}
const busy = "a".repeat(32);
const pausing = "b".repeat(32);
const trace = new Map([
  [busy, pod(1000, 1000)],
  [pausing, pod(20, 110)],
]);

describe("two pods of three hours, of which one pauses for ninety minutes", () => {
  it("have the shares that are written in them", () => {
    const { pods, samples, zeros, aboveHalf } = sharesOf(trace);
    const { length } = idleRuns(trace.get(pausing) ?? []);
    expect([pods, samples, aboveHalf + zeros, length]).toEqual([2, 380, 380, 1]);
    expect(unusedHours(trace)).toBeCloseTo(1.5, 1);
  });

  it("are called idle by the engine after the window, once, and never the one that works", () => {
    const { idle } = playIdle(trace, 1800, false);
    expect(idle.map((call) => call.pod)).toEqual([pausing]);
    const minutes = ((idle[0]?.at ?? 0) - 1_662_858_720) / 60;
    // Twenty minutes of work, half an hour of window, and the cycles that begin before the window and end after it.
    expect(minutes).toBeGreaterThanOrEqual(50);
    expect(minutes).toBeLessThanOrEqual(62);
    expect(playIdle(trace, 2 * 3600, false).idle).toEqual([]);
  });

  it("came back within the hour: the call was wrong", () => {
    const { idle } = playIdle(trace, 1800, false);
    const { calls, judged, right, cameBack, freedHours } = judgeCalls(trace, idle);
    expect([calls, judged, right, cameBack]).toEqual([1, 1, 0, 1]);
    expect(freedHours).toBeGreaterThan(0.8);
    expect(freedHours).toBeLessThan(1);
  });

  it("are not called wrong or right where the trace ends too early", () => {
    const ends = new Map([[pausing, pod(20, 1000).slice(0, 100)]]);
    const late = judgeCalls(ends, [{ pod: pausing, at: 1_662_858_720 + 80 * sampleSeconds }]);
    expect([late.calls, late.judged, late.cameBack]).toEqual([1, 0, 0]);
    const early = judgeCalls(ends, [{ pod: pausing, at: 1_662_858_720 + 30 * sampleSeconds }]);
    expect([early.judged, early.right]).toEqual([1, 1]);
  });

  it("count a pod with a little activity as in use", () => {
    const little = new Map([[pausing, pod(20, 30, 3)]]);
    const { inUse, freedHours } = judgeCalls(little, [{ pod: pausing, at: 1_662_858_720 + 100 * sampleSeconds }]);
    expect([inUse, freedHours]).toEqual([1, 0]);
  });
});

describe("distributions", () => {
  it("are read at 0, at 5 % and at their middle", () => {
    const points = [
      { x: 0, percent: 10 },
      { x: 0, percent: 25 },
      { x: 5, percent: 30 },
      { x: 60, percent: 50 },
      { x: 100, percent: 100 },
    ];
    const [seren] = acmeStudy(
      new Map([
        ["seren gpu_util", points],
        ["seren sm_active", points.slice(2)],
      ]),
    ).rows;
    expect(seren).toEqual({ cluster: "seren", utilZero: 25, utilIdle: 30, smIdle: 30, utilMedian: 60, smMedian: 60 });
  });
});
