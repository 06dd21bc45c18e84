import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateRunOut, type RunwayWeek } from "../../../review/runway/estimateRunOut.ts";
import { createSeededDraws } from "../../../review/runway/seededDraws.ts";

const week = 7 * 86_400;
const begin = Date.UTC(2026, 0, 5) / 1000;

const weeksOf = (demands: readonly (number | null)[]): readonly RunwayWeek[] =>
  demands.map((p95DemandGpus, i) => ({ from: begin + i * week, p95DemandGpus }));

const endOf = (weeks: readonly RunwayWeek[]): number => begin + weeks.length * week;

/** Weeks after the last one of so many. */
const weeksAfter = (time: number | null, weeks: readonly RunwayWeek[]): number | null =>
  time === null ? null : (time - endOf(weeks)) / week;

const late = (time: number | null): number => time ?? Number.POSITIVE_INFINITY;

/** Demand of some weeks with a trend and noise, and at times a week about which too little is known. */
const demands = fc
  .record({
    seed: fc.integer(),
    length: fc.integer({ min: 4, max: 30 }),
    level: fc.double({ min: 10, max: 500, noNaN: true }),
    growth: fc.double({ min: -0.03, max: 0.06, noNaN: true }),
    noise: fc.double({ min: 0.001, max: 0.15, noNaN: true }),
    gaps: fc.double({ min: 0, max: 0.3, noNaN: true }),
  })
  .map(({ seed, length, level, growth, noise, gaps }) => {
    const draws = createSeededDraws(seed);
    return Array.from({ length }, (_, i) => {
      const demand = level * Math.max(0.01, 1 + growth * i + noise * draws.normal());
      return draws.uniform() < gaps ? null : demand;
    });
  });

const factor = fc.double({ min: 1, max: 4, noNaN: true });
const highest = (some: readonly (number | null)[]): number => Math.max(1, ...some.map((one) => one ?? 0));

describe("the weeks until capacity runs out", () => {
  it("are close to where a straight line meets it", () => {
    const weeks = weeksOf([100, 102, 104, 106, 108, 110, 112, 114, 116, 118]);
    const found = estimateRunOut(weeks, 131, endOf(weeks));
    expect(found.state).toBe("growing");
    expect(found.trendGpusPerWeek).toBeCloseTo(2, 1);
    // 120 in the next week, 132 in the seventh.
    for (const end of [found.earliest, found.likely, found.latest])
      expect(Math.abs((weeksAfter(end, weeks) ?? 0) - 6)).toBeLessThanOrEqual(1);
  });

  it("are wider apart where weeks differ more", () => {
    const draws = createSeededDraws(5);
    const noise = Array.from({ length: 13 }, () => draws.normal());
    const widthWith = (spread: number): number => {
      const weeks = weeksOf(noise.map((one, i) => 100 + 3 * i + spread * one));
      const { earliest, latest } = estimateRunOut(weeks, 180, endOf(weeks), 200);
      return late(latest) - late(earliest);
    };
    expect(widthWith(1)).toBeLessThan(widthWith(4));
    expect(widthWith(4)).toBeLessThan(widthWith(10));
  });

  it("are open at the late end where one of ten futures lasts longer than the horizon", () => {
    const draws = createSeededDraws(3);
    const weeks = weeksOf(Array.from({ length: 8 }, (_, i) => 100 + i + 6 * draws.normal()));
    const found = estimateRunOut(weeks, 150, endOf(weeks));
    expect(found).toMatchObject({ state: "growing", latest: null });
    expect(found.earliest).not.toBeNull();
  });

  it.each([
    ["without any week", [], 100, "Only 0 whole weeks are known"],
    ["with one", [50], 100, "Only 1 whole week is known"],
    ["with three, and gaps between them", [50, null, 52, null, 54], 100, "Only 3 whole weeks are known"],
    ["without a capacity", [50, 51, 52, 53, 54], null, "The capacity is not known"],
    ["of nothing", [50, 51, 52, 53, 54], 0, "The capacity is not known"],
  ])("are not known %s", (_, demand, capacity, reason) => {
    const weeks = weeksOf(demand);
    const found = estimateRunOut(weeks, capacity, endOf(weeks));
    expect(found).toMatchObject({
      state: "unknown",
      earliest: null,
      likely: null,
      latest: null,
      trendGpusPerWeek: null,
    });
    expect(found.reason).toContain(reason);
  });

  it("are over when the last known week asked for more, however few weeks are known", () => {
    const weeks = weeksOf([101, null]);
    expect(estimateRunOut(weeks, 100, endOf(weeks))).toMatchObject({
      state: "exhausted",
      earliest: begin,
      latest: begin,
    });
    const past = weeksOf([120, 90, 91, 90, 89, 90]);
    expect(estimateRunOut(past, 100, endOf(past)).state).not.toBe("exhausted");
  });

  it("are not to be foreseen where nothing grows", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1000, noNaN: true }),
        fc.integer({ min: 4, max: 26 }),
        factor,
        (level, length, more) => {
          const weeks = weeksOf(Array.from({ length }, () => level));
          const found = estimateRunOut(weeks, Math.max(1, level * (1.01 + more / 10)), endOf(weeks));
          expect(found).toMatchObject({ state: "not-foreseeable", earliest: null, likely: null, latest: null });
        },
      ),
      { seed: 1, numRuns: 30 },
    );
  });

  it("are not to be foreseen where demand falls", () => {
    const weeks = weeksOf([100, 97, 95, 92, 90, 86, 85, 82, 80, 77]);
    const found = estimateRunOut(weeks, 120, endOf(weeks));
    expect(found.state).toBe("not-foreseeable");
    expect(found.trendGpusPerWeek).toBeLessThan(-2);
  });

  it("come in order, and not before now", () => {
    fc.assert(
      fc.property(demands, factor, fc.integer({ min: 0, max: 5 }), (demand, more, pause) => {
        const weeks = weeksOf(demand);
        const now = endOf(weeks) + pause * week + 1000;
        const { state, earliest, likely, latest } = estimateRunOut(weeks, highest(demand) * more, now);
        expect(late(earliest)).toBeLessThanOrEqual(late(likely));
        expect(late(likely)).toBeLessThanOrEqual(late(latest));
        if (state === "growing") expect(earliest).toBeGreaterThan(now - week);
        if (state !== "growing") expect([earliest, likely, latest]).toEqual([null, null, null]);
      }),
      { seed: 2, numRuns: 40 },
    );
  });

  it("are never fewer with more capacity", () => {
    fc.assert(
      fc.property(demands, factor, factor, (demand, more, again) => {
        const weeks = weeksOf(demand);
        const capacity = highest(demand) * more;
        const less = estimateRunOut(weeks, capacity, endOf(weeks));
        const greater = estimateRunOut(weeks, capacity * again, endOf(weeks));
        expect(late(greater.earliest)).toBeGreaterThanOrEqual(late(less.earliest));
        expect(late(greater.likely)).toBeGreaterThanOrEqual(late(less.likely));
        expect(late(greater.latest)).toBeGreaterThanOrEqual(late(less.latest));
      }),
      { seed: 3, numRuns: 40 },
    );
  });

  it("are the same when demand and capacity are both many times as large", () => {
    fc.assert(
      fc.property(demands, factor, fc.constantFrom(0.125, 8, 1024), (demand, more, times) => {
        const weeks = weeksOf(demand);
        const larger = weeksOf(demand.map((one) => (one === null ? null : one * times)));
        const capacity = highest(demand) * more;
        const one = estimateRunOut(weeks, capacity, endOf(weeks));
        const other = estimateRunOut(larger, capacity * times, endOf(weeks));
        // A draw may fall on the other side of the capacity by what is lost in rounding.
        for (const end of ["earliest", "likely", "latest"] as const) {
          if (one[end] === null || other[end] === null) continue;
          expect(Math.abs(one[end] - other[end])).toBeLessThanOrEqual(week);
        }
        expect(other.state).toBe(one.state);
      }),
      { seed: 4, numRuns: 40 },
    );
  });

  it("forget what is older than 26 weeks", () => {
    const recent = Array.from({ length: 26 }, (_, i) => 50 + i);
    const weeks = weeksOf([500, 400, 300, ...recent]);
    const now = endOf(weeks);
    expect(estimateRunOut(weeks, 100, now)).toEqual(estimateRunOut(weeks.slice(3), 100, now));
  });
});

describe("the 80 % interval, on lines with noise", () => {
  /** Part of 100 generated series whose true first passage lies in the interval. */
  function coverage(truthAt: (i: number, noise: number) => number, capacity: number, horizon: number): number {
    let allocated = 0;
    const series = 100;
    for (let seed = 1; seed <= series; seed++) {
      const draws = createSeededDraws(seed * 7919);
      const all = Array.from({ length: 13 + horizon }, (_, i) => truthAt(i, draws.normal()));
      const weeks = weeksOf(all.slice(0, 13));
      const { earliest, latest } = estimateRunOut(weeks, capacity, endOf(weeks), horizon);
      const passage = all.findIndex((demand, i) => i >= 13 && demand > capacity);
      const truth = passage < 0 ? Number.POSITIVE_INFINITY : begin + passage * week;
      if (late(earliest) <= truth && truth <= late(latest)) allocated += 1;
    }
    return allocated / series;
  }

  it.each([
    ["by so many GPUs a week", (i: number, noise: number) => 100 + 3 * i + 5 * noise, 200],
    ["by so much of itself a week", (i: number, noise: number) => 100 * 1.025 ** i * Math.exp(0.05 * noise), 220],
  ])("holds the truth in about four of five when demand grows %s", (_, truthAt, capacity) => {
    const found = coverage(truthAt, capacity, 100);
    expect(found).toBeGreaterThan(0.72);
    expect(found).toBeLessThan(0.93);
  });
});
