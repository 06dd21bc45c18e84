import { describe, expect, test } from "vitest";
import { alertsSchema, defaultAlerts } from "../../../alerts/thresholds.ts";
import {
  levelsText,
  limit,
  limitOf,
  neutral,
  worseAbove,
  worseBelow,
  worseOutside,
} from "../../../dashboards/panel/levels.ts";
import { money, units } from "../../../dashboards/panel/units.ts";

describe("levels", () => {
  test("the higher, the worse", () => {
    const levels = worseAbove(limit(0.9, "act"), limit(0.7, "watch"));
    expect(levels.steps).toEqual([
      { from: null, colour: "good" },
      { from: 0.7, colour: "watch" },
      { from: 0.9, colour: "act" },
    ]);
    expect(levelsText(levels, units.ratio)).toBe(" Amber from 70 % to 90 %, red from 90 %.");
  });

  test("the lower, the worse", () => {
    const levels = worseBelow(limit(0.4, "act"), limit(0.7, "watch"));
    expect(levels.steps).toEqual([
      { from: null, colour: "act" },
      { from: 0.4, colour: "watch" },
      { from: 0.7, colour: "good" },
    ]);
    expect(levelsText(levels, units.ratio)).toBe(" Red below 40 %, amber from 40 % to 70 %.");
  });

  test("best between two limits", () => {
    const levels = worseOutside([limit(0.7, "watch")], [limit(1.3, "watch")]);
    expect(levelsText(levels, units.times)).toBe(" Amber below 0.7 times, amber from 1.3 times.");
    expect(levels.steps.map(({ colour }) => colour)).toEqual(["watch", "good", "watch"]);
  });

  test("nothing is good or bad about a number without levels", () => {
    expect(levelsText(neutral, units.gpus)).toBe("");
  });

  test("an alert that judges the number is named, with its limit, colour and runbook", () => {
    const stale = worseAbove(...limitOf(defaultAlerts, "GpuExporterStale", ({ ageAboveSeconds }) => ageAboveSeconds));
    expect(levelsText(stale, units.seconds)).toBe(" Red from 90 s. Alert: GpuExporterStale.");
    expect(stale.alerts[0]?.runbook).toMatch(/\/gpuexporterstale\.md$/);
    const settings = { alerts: { GpuExporterStale: { ageAboveSeconds: 10_800, severity: "warning" } } };
    const later = worseAbove(
      ...limitOf(alertsSchema.parse(settings), "GpuExporterStale", ({ ageAboveSeconds }) => ageAboveSeconds),
    );
    expect(levelsText(later, units.seconds)).toBe(" Amber from 3 h. Alert: GpuExporterStale.");
  });

  test("amounts say their currency", () => {
    expect(levelsText(worseAbove(limit(200, "watch")), money("EUR"))).toBe(" Amber from 200 EUR.");
  });
});
