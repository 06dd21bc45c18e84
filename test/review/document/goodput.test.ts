import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { goodputOf } from "../../../review/document/goodput.ts";

const team = { allocated: 100, active: 60, whole: 80, lostToEvictions: 15, lostToFailures: 5 };

describe("the goodput of a team", () => {
  it("is what ran whole, was not undone, and was active", () => {
    const undone = { undoneByEvictions: 15, undoneByFailures: 5 };
    expect(goodputOf(team)).toEqual({ whole: 80, ...undone, kept: 60, productive: 45, ratio: 0.45 });
  });

  it("is its active part where nothing was undone and all of it ran", () => {
    const all = { ...team, whole: 100, lostToEvictions: 0, lostToFailures: 0 };
    expect(goodputOf(all)).toMatchObject({ productive: 60, ratio: 0.6 });
  });

  it.each([
    ["evictions", { lostToEvictions: 500 }, { undoneByEvictions: 80, undoneByFailures: 0 }],
    ["failures", { lostToFailures: 500 }, { undoneByEvictions: 15, undoneByFailures: 65 }],
  ])("is 0 where %s undid more than ran in the window, and never below", (_what, lost, undone) => {
    expect(goodputOf({ ...team, ...lost })).toEqual({ whole: 80, ...undone, kept: 0, productive: 0, ratio: 0 });
  });

  it("is 0 where all of it waited, and unknown where nothing was allocated", () => {
    const waited = { ...team, active: 0, whole: 0 };
    expect(goodputOf(waited)).toMatchObject({ productive: 0, ratio: 0 });
    expect(goodputOf({ ...waited, allocated: 0 }).ratio).toBeNull();
  });

  it("is unknown from where a step is not known", () => {
    const unknown = { kept: null, productive: null, ratio: null };
    const [none, some] = [{ undoneByEvictions: null, undoneByFailures: null }, { undoneByEvictions: 15 }];
    expect(goodputOf({ ...team, lostToEvictions: null })).toEqual({ whole: 80, ...none, ...unknown });
    expect(goodputOf({ ...team, lostToFailures: null })).toMatchObject({ ...some, undoneByFailures: null, ...unknown });
    expect(goodputOf({ ...team, whole: null })).toEqual({ whole: null, ...none, ...unknown });
  });

  it("has parts that are never below 0 and add up to what was allocated, whatever was undone", () => {
    const part = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(part, part, part, part, part, (active, idle, waited, lostToEvictions, lostToFailures) => {
        const whole = active + idle;
        const allocated = whole + waited;
        const found = goodputOf({ allocated, active, whole, lostToEvictions, lostToFailures });
        const { undoneByEvictions, undoneByFailures, kept, productive } = found;
        const parts = [
          waited,
          undoneByEvictions ?? Number.NaN,
          undoneByFailures ?? Number.NaN,
          (kept ?? Number.NaN) - (productive ?? Number.NaN),
          productive ?? Number.NaN,
        ];
        const tolerance = 1e-9 * (allocated + 1);
        for (const one of parts) expect(one).toBeGreaterThanOrEqual(-tolerance);
        expect(Math.abs(parts.reduce((sum, one) => sum + one, 0) - allocated)).toBeLessThan(tolerance);
      }),
    );
  });
});
