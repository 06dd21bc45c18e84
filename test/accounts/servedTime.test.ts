import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createAccounting } from "../../exporter/accounts/accounting.ts";
import type { AccruedStep } from "../../exporter/accounts/posting.ts";
import type { ServedTime } from "../../exporter/accounts/servedTime.ts";
import type { Analysis } from "../../exporter/analysis/analysis.ts";
import { now } from "../join/clusterBuilder.ts";
import { type Counters, momentsOf, step } from "./servingMoments.ts";

const day = Math.floor(now / 86_400);

/** The steps between these moments, so long after the first as said. */
function stepsOf(moments: readonly Analysis[], from = now, seconds = step): readonly AccruedStep[] {
  const accounting = createAccounting({ intervalSeconds: 30, limits: { teams: 10, series: 50_000 } });
  return moments.flatMap((analysis, i) => {
    const found = accounting.account(analysis, { wall: from + i * seconds, monotonic: i * seconds });
    return found === null ? [] : [found];
  });
}

const served = (steps: readonly AccruedStep[]) => steps.flatMap(({ servedTimes }) => servedTimes);
const sum = (times: readonly ServedTime[], of: (time: ServedTime) => number | null): number =>
  times.reduce((total, time) => total + (of(time) ?? 0), 0);

/** The first step is not counted: the counting begins at its end. */
const counters = [
  { finished: 1, generated: 10 },
  { finished: 5, generated: 1000 },
  { finished: 8, generated: 1600 },
  { finished: 20, generated: 4600 },
] as const;

describe("what a workload served in a step", () => {
  test("is there from the second step on, beside the GPU time that it took and what that cost", () => {
    const [begin, first = [], second = []] = stepsOf(momentsOf(counters)).map(({ servedTimes }) => servedTimes);
    const named = { day, kind: "Pod", namespace: "research", name: "chat", team: "research" };
    expect(begin).toEqual([]);
    expect(first.concat(second)).toMatchObject([
      { ...named, currency: "USD", requests: 0, generatedTokens: null, gpuSeconds: 2 * step, uncountedGpuSeconds: 0 },
      { ...named, currency: null, requests: 3, promptTokens: 30, generatedTokens: 600, gpuSeconds: 0, cost: null },
      { ...named, currency: "USD", requests: 0, generatedTokens: null, gpuSeconds: 2 * step },
      { ...named, currency: null, requests: 12, promptTokens: 120, generatedTokens: 3000 },
    ]);
  });

  test("is not there over a gap, whatever the counters say", () => {
    expect(served(stepsOf(momentsOf(counters), now, 600))).toEqual([]);
  });

  test("of a server that does not count its tokens has GPU time in which they are not counted", () => {
    const uncounted = counters.map(({ finished }) => ({ finished, generated: null }));
    const times = served(stepsOf(momentsOf(uncounted)));
    expect(sum(times, (time) => time.requests)).toBe(15);
    expect(times.map(({ generatedTokens }) => generatedTokens)).toEqual([null, null, null, null]);
    expect(sum(times, (time) => time.uncountedGpuSeconds)).toBe(2 * 2 * step);
  });

  test("over midnight has GPU time on both days, and counts on the day on which it was seen", () => {
    const midnight = (day + 1) * 86_400;
    const times = served(stepsOf(momentsOf(counters), midnight - step - 10));
    const of = (at: number, what: (time: ServedTime) => number | null) =>
      sum(
        times.filter((time) => time.day === at),
        what,
      );
    expect([day, day + 1].map((at) => of(at, (time) => time.gpuSeconds))).toEqual([20, 2 * 2 * step - 20]);
    expect([day, day + 1].map((at) => of(at, (time) => time.requests))).toEqual([0, 15]);
  });
});

test("GPU time and cost are those of the workload's postings; requests and tokens add up to what the counters gained", () => {
  const gained = fc.record({ finished: fc.nat(50), generated: fc.nat(5000) });
  fc.assert(
    fc.property(fc.array(gained, { minLength: 2, maxLength: 8 }), fc.integer({ min: -300, max: 300 }), (all, shift) => {
      const reads: Counters[] = [{ finished: 3, generated: 30 }];
      for (const { finished, generated } of all) {
        const last = reads.at(-1);
        reads.push({ finished: (last?.finished ?? 0) + finished, generated: (last?.generated ?? 0) + generated });
      }
      const steps = stepsOf(momentsOf(reads), (day + 1) * 86_400 + shift);
      const times = served(steps);
      const postings = steps
        .slice(1)
        .flatMap((one) => one.postings)
        .filter(({ workload }) => workload?.name === "chat");
      const total = (of: (posting: (typeof postings)[number]) => number | null) =>
        postings.reduce((so, posting) => so + (of(posting) ?? 0), 0);
      expect(sum(times, (time) => time.gpuSeconds)).toBeCloseTo(
        total((posting) => posting.gpuSeconds),
        6,
      );
      expect(sum(times, (time) => time.cost)).toBeCloseTo(
        total((posting) => posting.cost),
        6,
      );
      const [first, last] = [reads[1], reads.at(-1)];
      expect(sum(times, (time) => time.requests)).toBe((last?.finished ?? 0) - (first?.finished ?? 0));
      expect(sum(times, (time) => time.generatedTokens)).toBe((last?.generated ?? 0) - (first?.generated ?? 0));
      for (const { currency, cost, gpuSeconds, uncountedGpuSeconds } of times) {
        expect(cost === null).toBe(currency === null);
        expect(uncountedGpuSeconds).toBeLessThanOrEqual(gpuSeconds);
      }
    }),
    { numRuns: 50 },
  );
});
