import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Figure, Unit } from "../../../review/words/figure.ts";
import { bareText, figureText, spokenText } from "../../../review/words/figureText.ts";
import { runOutText } from "../../../review/words/runOutText.ts";
import { windowText } from "../../../review/words/times.ts";

const usd: Unit = { currency: "USD", per: null };
const eurAWeek: Unit = { currency: "EUR", per: "week" };
const texts: readonly (readonly [Unit, number, string])[] = [
  ["GPU-h", 0, "0 GPU-h"],
  ["GPU-h", 0.004, "<0.1 GPU-h"],
  ["GPU-h", 4.24, "4.2 GPU-h"],
  ["GPU-h", 9.96, "10 GPU-h"],
  ["GPU-h", 412.3, "412 GPU-h"],
  ["GPU-h", 9_999.4, "9,999 GPU-h"],
  ["GPU-h", 9_999.5, "10.0k GPU-h"],
  ["GPU-h", 29_568, "29.6k GPU-h"],
  ["GPU-h", 999_949, "1.00M GPU-h"],
  ["GPU-h", 1_714_000, "1.71M GPU-h"],
  ["GPU-h/week", 2_688, "2,688 GPU-h a week"],
  ["GPU-h", -3.14, "−3.1 GPU-h"],
  ["GPUs", 96.72, "96.7 GPUs"],
  ["GPUs", 8, "8 GPUs"],
  ["GPUs", 176.2, "176 GPUs"],
  ["node-h", 118.2, "118 node-h"],
  ["h", 91.8, "3 d 19 h"],
  ["s", 9_400, "2 h 36 min"],
  ["ratio", 0.662, "66 %"],
  ["ratio", 0.001, "<1 %"],
  ["ratio", 0.998, ">99 %"],
  ["ratio", 1, "100 %"],
  ["count", 2_260, "2,260"],
  [usd, 0, "$ 0"],
  [usd, 0.001, "$ <0.01"],
  [usd, 9.5, "$ 9.50"],
  [usd, 99.996, "$ 100"],
  [usd, 1_320, "$ 1,320"],
  [usd, 171_198, "$ 171k"],
  [eurAWeek, 12.3, "EUR 12.30 a week"],
];

describe("a number of the review", () => {
  test.each(texts)("in %o: %d reads %s", (unit, value, text) => {
    expect(figureText({ measure: "some", unit, value })).toBe(text);
  });

  test.each([
    ["points", 0.0286, "+3 points"],
    ["points", -0.0101, "−1 point"],
    ["points", 0.004, "+0.4 points"],
    ["points", 0.0004, "no change"],
    ["ratio", 0.0248, "+2 %"],
    ["ratio", -0.5, "−50 %"],
    ["ratio", 2.5, "+250 %"],
    ["ratio", 0, "no change"],
  ] as const)("as a change in %s: %d reads %s", (unit, value, text) => {
    expect(figureText({ measure: "change", unit, value })).toBe(text);
  });

  test("a deviation says who owes whom, in every form", () => {
    const deviation = (value: number): Figure => ({ measure: "deviation", unit: "GPU-h", value });
    expect(figureText(deviation(-2856))).toBe("is owed 2,856 GPU-h");
    expect(bareText(deviation(17.4))).toBe("owes 17 GPU-h");
    expect(figureText(deviation(0.02))).toBe("even");
  });

  test("coverage is rounded down, so that a gap stays one", () => {
    const coverage = (value: number): string => figureText({ measure: "coverage", unit: "ratio", value });
    expect([1, 0.9999, 0.997, 0].map(coverage)).toEqual(["100 %", "99.9 %", "99.7 %", "0.0 %"]);
  });

  test("unknown is a dash in a cell, a word in a sentence, and never 0", () => {
    const unknown: Figure = { measure: "allocated", unit: "GPU-h", value: null };
    expect([figureText(unknown), bareText(unknown), spokenText(unknown)]).toEqual(["–", "–", "unknown"]);
  });

  test("leaves its unit to the heading where that says it", () => {
    expect(bareText({ measure: "allocated", unit: "GPU-h", value: 29_568 })).toBe("29.6k");
    expect(bareText({ measure: "cost", unit: usd, value: 5 })).toBe("$ 5.00");
  });

  test("what is there never reads as nothing, and more never reads as less", () => {
    const magnitude = (text: string): number => {
      const [, less, number = "", letter = ""] = /(<?)([\d,.]+)([kMGT]?)/.exec(text) ?? [];
      const scale = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 }[letter] ?? 1;
      return (Number(number.replaceAll(",", "")) * scale) / (less === "<" ? 2 : 1);
    };
    const amount = fc.double({ min: 0, max: 1e14, noNaN: true });
    fc.assert(
      fc.property(amount, amount, fc.constantFrom<Unit>("GPU-h", "GPUs", usd), (one, other, unit) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)].map((value) =>
          magnitude(figureText({ measure: "some", unit, value })),
        );
        expect(low).toBeLessThanOrEqual(high ?? 0);
        if (one > 0) expect(magnitude(figureText({ measure: "some", unit, value: one }))).toBeGreaterThan(0);
        const shown = magnitude(figureText({ measure: "some", unit, value: one }));
        expect(Math.abs(shown - one)).toBeLessThanOrEqual(Math.max(0.06, one * 0.051));
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

describe("times", () => {
  test.each([
    ["2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z", "9 to 15 Nov 2026 UTC"],
    ["2026-10-26T00:00:00Z", "2026-11-02T00:00:00Z", "26 Oct to 1 Nov 2026 UTC"],
    ["2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z", "28 Dec 2026 to 3 Jan 2027 UTC"],
    ["2026-11-09T00:00:00Z", "2026-11-10T00:00:00Z", "9 Nov 2026 UTC"],
    ["2026-11-09T07:30:00Z", "2026-11-12T00:00:00Z", "2026-11-09 07:30 to 2026-11-12 00:00 UTC"],
  ])("%s to %s is %s", (from, to, text) => {
    expect(windowText({ from, to })).toBe(text);
  });

  test("a runway is a range of dates, and says where it is none", () => {
    const [earliest, likely, latest] = ["2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z", "2027-01-11T00:00:00Z"];
    const out = { state: "growing", earliest: null, likely: null, latest: null, reason: "few weeks" } as const;
    expect(runOutText({ ...out, earliest, likely, latest })).toBe("2026-11-30 to 2027-01-11, most likely 2026-12-07");
    expect(runOutText({ ...out, earliest })).toBe("2026-11-30 at the earliest, or not to be foreseen");
    expect(runOutText({ ...out, latest })).toBe("2027-01-11 at the latest");
    expect(runOutText(out)).toBe("growing, no date to be foreseen");
    expect(runOutText({ ...out, state: "unknown" })).toBe("unknown: few weeks");
    expect(runOutText({ ...out, state: "exhausted" })).toBe("demand is above capacity already");
  });
});
