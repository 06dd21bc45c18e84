import { expect, it } from "vitest";
import { gapProblem } from "../../exporter/accounts/stepTime.ts";

it("names a clock that was set and a step that was too long; what a source explains is named there", () => {
  const step = { from: 1000, to: 1030, seconds: 30, gap: null };
  const of = (changes: object) => gapProblem({ ...step, ...changes }).map(({ code, message }) => `${code}: ${message}`);
  expect(of({})).toEqual([]);
  expect(of({ gap: "stale-objects" })).toEqual([]);
  expect(of({ to: 8230, gap: "clock-jump" })).toEqual([
    "clock-jump: The wall clock was set 7200 s ahead within the last step of 30 s, which is counted nowhere.",
  ]);
  expect(of({ to: 430, gap: "clock-jump" })).toEqual([
    "clock-jump: The wall clock was set 600 s back within the last step of 30 s, which is counted nowhere.",
  ]);
  expect(of({ to: 1300, seconds: 300, gap: "too-long" })).toEqual([
    "step-too-long: 300 s passed between the last two cycles, more than three intervals: they are counted nowhere.",
  ]);
});
