import { describe, expect, it } from "vitest";
import { goodputOf } from "../../../review/document/goodput.ts";

const team = { allocated: 100, active: 60, whole: 80, lostToEvictions: 20 };

describe("the goodput of a team", () => {
  it("is what ran whole, was not undone, and was active", () => {
    expect(goodputOf(team)).toEqual({ whole: 80, kept: 60, productive: 45, ratio: 0.45 });
  });

  it("is its active part where nothing was undone and all of it ran", () => {
    expect(goodputOf({ ...team, whole: 100, lostToEvictions: 0 })).toMatchObject({ productive: 60, ratio: 0.6 });
  });

  it("is 0 where more was undone than ran in the window, and never below", () => {
    expect(goodputOf({ ...team, lostToEvictions: 500 })).toEqual({ whole: 80, kept: 0, productive: 0, ratio: 0 });
  });

  it("is 0 where all of it waited, and unknown where nothing was allocated", () => {
    expect(goodputOf({ ...team, active: 0, whole: 0, lostToEvictions: 0 })).toMatchObject({ productive: 0, ratio: 0 });
    expect(goodputOf({ allocated: 0, active: 0, whole: 0, lostToEvictions: 0 }).ratio).toBeNull();
  });

  it("is unknown from where a step is not known", () => {
    const unknown = { productive: null, ratio: null };
    expect(goodputOf({ ...team, lostToEvictions: null })).toEqual({ whole: 80, kept: null, ...unknown });
    expect(goodputOf({ ...team, whole: null })).toEqual({ whole: null, kept: null, ...unknown });
  });

  it("never grows from step to step", () => {
    for (const lostToEvictions of [0, 1, 79, 80, 81])
      for (const active of [0, 40, 80]) {
        const { whole, kept, productive } = goodputOf({ ...team, active, lostToEvictions });
        const steps = [team.allocated, whole ?? 0, kept ?? 0, productive ?? 0];
        expect(steps.toSorted((a, b) => b - a)).toEqual(steps);
      }
  });
});
