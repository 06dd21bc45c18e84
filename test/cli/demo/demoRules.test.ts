import { describe, expect, test } from "vitest";
import { defaultAlerts } from "../../../alerts/thresholds.ts";
import { alertPaceText, demoAlerts, demoRuleFiles, stepSeconds } from "../../../cli/demo/demoRules.ts";

const url = "http://127.0.0.1:10836";

describe("the alerts of a demo", () => {
  test("wait as many times less as it is faster", () => {
    const { interval, alerts, fairleadUrl } = demoAlerts({ interval: 30, speed: 6 }, url);
    expect({ interval, fairleadUrl }).toEqual({ interval: "5s", fairleadUrl: url });
    expect(alerts.GpuTeamStarved).toMatchObject({ for: "300s", keepFiringFor: "100s", allocatedBelow: 0.7 });
    expect(alerts.GpuFairnessLow).toMatchObject({ window: "600s", keepFiringFor: "0m", jainBelow: 0.7 });
  });

  test("are those of a cluster at its own speed", () => {
    const { alerts } = demoAlerts({ interval: 30, speed: 1 }, url);
    expect(alerts.GpuTeamStarved).toEqual({
      ...defaultAlerts.alerts.GpuTeamStarved,
      for: "1800s",
      keepFiringFor: "600s",
    });
  });

  test.each([0.1, 1000])("can be written at a speed of %d", (speed) => {
    const files = demoRuleFiles(demoAlerts({ interval: 30, speed }, url));
    expect(Object.keys(files)).toEqual(["fairlead-recording.yaml", "fairlead-alerts.yaml"]);
    expect(stepSeconds({ interval: 30, speed })).toBe(speed === 1000 ? 1 : 300);
  });

  test("say how long one takes to fire", () => {
    const said = (speed: number) => alertPaceText(demoAlerts({ interval: 30, speed }, url), speed);
    expect(said(6)).toBe(
      "alerts wait 6 times less than in a cluster: GpuIdleAllocated fires 10 min after its condition begins (60 min of simulated time)",
    );
    expect(said(1)).toBe(
      "alerts wait as long as in a cluster: GpuIdleAllocated fires 60 min after its condition begins (60 min of simulated time)",
    );
    expect(said(100)).toContain("fires 36 s after");
  });
});
