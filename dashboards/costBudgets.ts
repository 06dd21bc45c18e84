import { aggregate, arithmetic, topk } from "../exporter/catalogue/promql.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limit, limitOf, worseAbove, worseBelow } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

const by = ["cluster", "team"] as const;

/** The budgets of this month, for all chosen teams together. */
export function budgetsNow(tools: Tools): readonly PanelDraft[] {
  const { alerts, currency, money, seriesLink } = tools;
  const { amount, spent, forecast, pace } = budgets(tools);
  const noValue = "no budget";
  const links = [seriesLink("team", "What does a team have?", {})];
  return [
    stat({
      title: "Spent this month",
      meaning: `What teams with a budget were charged since the month began (UTC), in ${currency}. Teams without a budget are not in it: the chargeback table has all.`,
      unit: money,
      noValue,
      shows: [shows(aggregate("sum", spent), "This month")],
      links,
    }),
    stat({
      title: "Month's cost, forecast",
      meaning: `What these teams will have spent when the month ends, in ${currency}, if the days that are left cost as much as those of the last four weeks. The table of budgets says how sure that is.`,
      unit: money,
      noValue,
      shows: [shows(aggregate("sum", forecast("mid")), "Month end")],
      links,
    }),
    stat({
      title: "Budget left",
      meaning: `Budgets of this month without what is spent, in ${currency}, of teams where both are known. What one team has left does not pay for another: see the table of budgets.`,
      unit: money,
      levels: worseBelow(limit(0, "act")),
      noValue,
      shows: [shows(aggregate("sum", arithmetic(amount, "-", spent)), "Left")],
      links,
    }),
    stat({
      title: "Fastest-spending team",
      meaning:
        "The team that is furthest ahead of its budget, and its pace: at 1 the budget lasts exactly until the month ends, at 2 for half of it. The table of budgets has the others.",
      unit: units.times,
      levels: worseAbove(...limitOf(alerts, "GpuBudgetBurnFast", ({ burnAbove }) => burnAbove)),
      kind: "now",
      text: "both",
      noValue,
      shows: [shows(topk(1, pace), "{{team}} ({{cluster}})")],
      links,
    }),
  ];
}

/** The budget of each team, with the range of the forecast. */
export function budgetTable(tools: Tools): PanelDraft {
  const { query, alerts, currency, money, rowLink } = tools;
  const { amount, spent, forecast, pace } = budgets(tools);
  const used = aggregate("max", query.recorded("cluster_team_currency:fairlead_budget_spent:ratio", { currency }), by);
  return table({
    title: "Budgets of this month, by team",
    meaning: `Budget of each team for this month in ${currency}, the part that is used, its pace (1: lasts exactly to the month's end), and between which amounts the month will end in eight of ten cases. Talk to teams whose lower end is above the budget.`,
    size: [24, 8],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "Budget", query: amount, unit: money },
      { title: "Spent", query: spent, unit: money },
      {
        title: "Used",
        query: used,
        unit: units.use,
        levels: worseAbove(...limitOf(alerts, "GpuBudgetExhausted", ({ spentAbove }) => spentAbove)),
      },
      {
        title: "Pace",
        query: pace,
        unit: units.times,
        levels: worseAbove(...limitOf(alerts, "GpuBudgetBurnFast", ({ burnAbove }) => burnAbove)),
      },
      { title: "Month end, low", query: forecast("low"), unit: money },
      { title: "Month end, high", query: forecast("high"), unit: money },
    ],
    sortBy: "Pace",
    empty: "no team has a budget",
    widths: {
      Cluster: 110,
      Budget: 100,
      Spent: 100,
      Used: 80,
      Pace: 90,
      "Month end, low": 130,
      "Month end, high": 135,
    },
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team" }) },
  });
}

function budgets({ query, currency }: Tools) {
  const ratio = query.recorded("cluster_team_currency:fairlead_budget_burn_rate_ratio:max", { currency });
  const budget = query.recorded("cluster_team_currency:fairlead_budget_amount:max", { currency });
  return {
    amount: aggregate("max", budget, by),
    spent: query.max("fairlead_budget_spent", by, { currency }),
    pace: aggregate("max", ratio, by),
    forecast: (bound: "low" | "mid" | "high") => query.max("fairlead_budget_forecast", by, { currency, bound }),
  };
}
