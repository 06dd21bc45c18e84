import { describe, expect, it } from "vitest";
import { buildFamilies } from "../../../exporter/publish/families.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { knownBudgets } from "../knownBudgets.ts";
import { health, smallMoment } from "../moment.ts";

const linesOf = (budgets: typeof knownBudgets | null): readonly string[] =>
  renderPage(
    buildFamilies({ analysis: smallMoment, health: health(), limits: { teams: 1000, series: 50_000 }, budgets })
      .families,
  )
    .toString("utf8")
    .split("\n")
    .filter((line) => line.startsWith("fairlead_budget_"));

describe("budgets on the page", () => {
  it("have a series for each number that is known, and none for what is not", () => {
    const team = 'cluster="harbor",team="ads",currency="USD"';
    expect(linesOf(knownBudgets)).toEqual([
      `fairlead_budget_amount{${team}} 60000`,
      'fairlead_budget_amount{cluster="harbor",team="search",currency="EUR"} 100',
      `fairlead_budget_spent{${team}} 48000`,
      `fairlead_budget_forecast{${team},bound="high"} 73415`,
      `fairlead_budget_forecast{${team},bound="low"} 70585`,
      `fairlead_budget_forecast{${team},bound="mid"} 72000`,
      `fairlead_budget_burn_rate_ratio{${team}} 1.2`,
      `fairlead_budget_covered_ratio{${team}} 0.95`,
    ]);
  });

  it("are absent where nothing keeps the past", () => {
    expect(linesOf(null)).toEqual([]);
  });
});
