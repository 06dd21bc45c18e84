import { describe, expect, test } from "vitest";
import { createAccounting } from "../../../exporter/accounts/accounting.ts";
import { buildFamilies } from "../../../exporter/publish/families.ts";
import { health } from "../moment.ts";
import { pricedMoment } from "../pricedMoment.ts";
import { progressMoment, progressTotals } from "../progressMoment.ts";

const name = "fairlead_workload_cost_per_progress_unit";
const limits = { teams: 1000, series: 50_000 };
const seriesOf = (totals: ReturnType<typeof progressTotals>, topWorkloads = 20) =>
  buildFamilies({
    analysis: pricedMoment,
    health: health(),
    limits: { ...limits, cost: { notCharged: [], topWorkloads } },
    accounts: totals,
  }).families.find((family) => family.name === name)?.series;

describe("cost per unit of progress on the page", () => {
  test("is what the GPU of the job cost over the units that it made", () => {
    // 1 GPU at 2 USD an hour for two half minutes; 4 units.
    const [series, ...others] = seriesOf(progressTotals(10, 10, 14)) ?? [];
    expect(others).toEqual([]);
    expect(series?.labelValues).toEqual(["harbor", "ads", "ads", "Job/train", "USD"]);
    expect(series?.value).toBeCloseTo(2 / 60 / 4, 12);
  });

  test("is there for the dearest workloads alone", () => {
    expect(seriesOf(progressTotals(0, 1), 0)).toBeUndefined();
    expect(seriesOf(progressTotals(0, 1), 1)).toHaveLength(1);
  });

  test.each([
    ["no unit was made", progressTotals(5, 5)],
    ["there was one moment only", progressTotals(5)],
  ])("is not there when %s", (_what, totals) => {
    expect(seriesOf(totals)).toBeUndefined();
  });

  test("goes on after a restart", () => {
    const options = { intervalSeconds: 30, limits };
    const first = createAccounting({ ...options, remembered: [] });
    first.account(progressMoment(0), { wall: 0, monotonic: 0 });
    const step = first.account(progressMoment(2), { wall: 30, monotonic: 30 });
    const remembered = (step?.remembered ?? []).flatMap(({ value, ...row }) =>
      value === null ? [] : [{ ...row, value }],
    );
    const second = createAccounting({ ...options, remembered });
    second.account(progressMoment(7), { wall: 600, monotonic: 5 });
    second.account(progressMoment(8), { wall: 630, monotonic: 35 });
    expect(seriesOf(second.counters())?.[0]?.value).toBeCloseTo(2 / 60 / 3, 12);
  });
});
