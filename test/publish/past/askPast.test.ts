import { describe, expect, test } from "vitest";
import { askPast } from "../../../exporter/publish/past/askPast.ts";
import { coveredSteps, meanOf, type Past, type PastChart } from "../../../exporter/publish/past/past.ts";
import { scriptedLedger } from "../pages/scriptedLedger.ts";

const hour = 3600;
const now = Date.UTC(2026, 10, 21, 4, 20) / 1000;
const lastHour = Date.UTC(2026, 10, 21, 4) / 1000;

function chartsOf(past: Past): readonly PastChart[] {
  if (!past.isKnown) throw new Error(past.why);
  return past.charts;
}

const valuesOf = (chart: PastChart | undefined): Readonly<Record<string, readonly (number | null)[]>> =>
  Object.fromEntries(chart?.series.map(({ name, values }) => [name, values]) ?? []);

describe("the last day and week", () => {
  test("of a team: what it held and used in each full hour", async () => {
    const { ledger, ledgerTables, asked } = scriptedLedger();
    const [day, week] = chartsOf(await askPast({ ledger, ledgerTables }, { of: "team", name: "ads", now }));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ from: lastHour - 168 * hour, to: lastHour, where: new Map([["team", ["ads"]]]) });
    expect(day?.from).toBe(lastHour - 24 * hour);
    expect(valuesOf(day)).toEqual({ allocated: Array(24).fill(6), active: Array(24).fill(4) });
    expect(valuesOf(week)).toEqual({ allocated: Array(168).fill(6), active: Array(168).fill(4) });
  });

  test("is not known where nothing was counted, and a mean is of what was counted", async () => {
    const gap = (from: number, to: number) => ({
      from: lastHour + from * hour,
      to: lastHour + to * hour,
      reason: "too-long" as const,
    });
    // The last hour is missing, and half of the one before it.
    const source = scriptedLedger([gap(-1.5, 0)]);
    const [day] = chartsOf(await askPast(source, { of: "team", name: "ads", now }));
    expect(valuesOf(day).allocated?.slice(-3)).toEqual([6, 6, null]);
  });

  test("of a queue: what it held, was entitled to and waited for; of a node: for how long it was idle", async () => {
    const source = scriptedLedger();
    const [day, week] = chartsOf(await askPast(source, { of: "queue", name: "search", now }));
    expect(valuesOf(day)).toEqual({
      allocated: Array(24).fill(6),
      entitled: Array(24).fill(8),
      waiting: Array(24).fill(1),
    });
    expect(week?.series[0]?.values).toHaveLength(168);
    const node = chartsOf(await askPast(source, { of: "node", name: "n1", now }));
    expect(node.map(valuesOf)).toEqual([{ "idle unallocated": [6] }, { "idle unallocated": [42] }]);
  });

  test("of a workload: GPU-hours by day, because the ledger keeps no hours of it", async () => {
    const source = scriptedLedger();
    const charts = chartsOf(await askPast(source, { of: "workload", name: "Job/ads/x", now }));
    expect(charts.map((chart) => chart.series[0]?.values)).toEqual([Array(2).fill(144), Array(7).fill(144)]);
    expect(source.asked[0]).toMatchObject({ groupBy: ["day", "state"], where: new Map([["workload", ["Job/ads/x"]]]) });
  });

  test("without a ledger says what will be there, and what to set; a ledger without a full hour says when", async () => {
    expect(await askPast({}, { of: "team", name: "ads", now })).toEqual({
      isKnown: false,
      why: "No ledger is kept, so that the past is not known. With one, the last day and week will be here: how many GPUs the team held and used in each hour, from the first full hour on.",
      nextStep: "Set ledger.path in the configuration.",
    });
    const empty = scriptedLedger([{ from: 0, to: lastHour + hour, reason: "before-ledger" }]);
    const past = await askPast(empty, { of: "team", name: "ads", now });
    expect(past).toMatchObject({ isKnown: false, why: expect.stringContaining("From 05:00 UTC on there will be") });
  });

  test("of a ledger that does not answer says so", async () => {
    const broken = async () => ({ ok: false, fault: "ledger", error: "it is locked", nextStep: "Wait." }) as const;
    for (const of of ["team", "queue", "node", "workload"] as const)
      expect(await askPast({ ledger: broken, ledgerTables: broken }, { of, name: "x", now })).toEqual({
        isKnown: false,
        why: "The ledger did not answer: it is locked",
        nextStep: "Wait.",
      });
  });
});

describe("what is covered of each step", () => {
  test("is what no gap takes away", () => {
    const gaps = [
      { from: 50, to: 130, reason: "too-long" },
      { from: 280, to: 290, reason: "too-long" },
    ] as const;
    const steps = { from: 0, seconds: 100, count: 4 };
    expect(coveredSteps(steps, { gaps, gapsLeftOut: 0 })).toEqual([50, 70, 90, 100]);
    // More gaps than are listed may be anywhere behind the last one.
    expect(coveredSteps(steps, { gaps, gapsLeftOut: 3 })).toEqual([50, 70, null, null]);
  });

  test("gives no mean where it is too little", () => {
    expect(meanOf(500, 50, 100)).toBe(10);
    expect(meanOf(50, 5, 100)).toBeNull();
    expect(meanOf(50, null, 100)).toBeNull();
  });
});
