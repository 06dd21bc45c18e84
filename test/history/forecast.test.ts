import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forecastOf } from "../../exporter/history/budget.ts";

const day = 86_400;
const whole = (amount: number) => ({ amount, coveredSeconds: day });

describe("a forecast", () => {
  it("is the mean day for each day that is left, with the spread of the days", () => {
    // Mean 100, standard deviation 10; 9 days are left: 500 + 900, and 1.28 x 10 x sqrt(9 + 81 / 3) = 76.8.
    const found = forecastOf(500, [whole(90), whole(100), whole(110)], 9 * day);
    expect(found?.mid).toBeCloseTo(1400, 9);
    expect(found?.low).toBeCloseTo(1400 - 76.8, 9);
    expect(found?.high).toBeCloseTo(1400 + 76.8, 9);
    expect(found?.days).toBe(3);
  });

  it("leaves time that is not covered out: half a day of 50 is a day of 100", () => {
    expect(forecastOf(0, [whole(100), { amount: 50, coveredSeconds: day / 2 }], day)?.mid).toBeCloseTo(100, 9);
    expect(forecastOf(0, [whole(100), { amount: 0, coveredSeconds: 0 }], day)?.mid).toBeCloseTo(100, 9);
  });

  it("is none with less than one covered day, and has no range with one", () => {
    expect(forecastOf(10, [{ amount: 10, coveredSeconds: day - 1 }], day)).toBeNull();
    expect(forecastOf(10, [], day)).toBeNull();
    expect(forecastOf(10, [whole(10)], 2 * day)).toEqual({ low: null, mid: 30, high: null, days: 1 });
  });

  it("is what was spent when the month is over", () => {
    expect(forecastOf(70, [whole(1), whole(90)], 0)).toEqual({ low: 70, mid: 70, high: 70, days: 2 });
  });

  it("is never below what is spent, and its middle lies in its range", () => {
    const amounts = fc.array(
      fc.record({
        amount: fc.float({ min: 0, max: 1e6, noNaN: true }),
        coveredSeconds: fc.integer({ min: 0, max: day }),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(
        fc.float({ min: 0, max: 1e6, noNaN: true }),
        amounts,
        fc.integer({ min: 0, max: 31 * day }),
        (spent, days, left) => {
          const found = forecastOf(spent, days, left);
          if (found === null) return;
          expect(found.mid).toBeGreaterThanOrEqual(spent);
          expect(found.low ?? spent).toBeGreaterThanOrEqual(spent);
          expect(found.low ?? found.mid).toBeLessThanOrEqual(found.mid);
          expect(found.high ?? found.mid).toBeGreaterThanOrEqual(found.mid);
        },
      ),
      { seed: 5 },
    );
  });
});
