import { forecastBounds } from "./labels.ts";
import type { MetricArea } from "./metric.ts";

/** Budgets of teams in a calendar month (UTC), from the history (docs/history.md). They are absent where no history is kept. */
export const budgetsMetrics = {
  fairlead_budget_amount: {
    unit: "cost",
    help: "Budget of a team for a calendar month, from the configuration, in units of the currency.",
    formula: "perMonth of the team in cost.budgets",
    example: "cost.budgets: [{ team: ads, perMonth: 60000, currency: USD }] gives 60000.",
    labels: ["cluster", "team", "currency"],
    stability: "alpha",
  },
  fairlead_budget_spent: {
    unit: "cost",
    help: "What a team with a budget was charged by allocation since the month began (UTC), in units of the currency, as far as that time is covered; absent where its GPU time has no price.",
    formula:
      "sum over the month so far of the cost of the GPU time that was allocated to the team, in all states but those of cost.notCharged",
    example:
      "20 days on which 50 GPUs were allocated to the team at 2 USD an hour, all charged: 20 x 24 x 50 x 2 = 48000 USD.",
    labels: ["cluster", "team", "currency"],
    stability: "alpha",
  },
  fairlead_budget_forecast: {
    unit: "cost",
    help: "What the team will have spent when the month ends, with a range; absent until a whole day is covered, and `low` and `high` until two days are.",
    formula:
      "mid = spent + mean cost of a covered day of the last 28 x days left; low and high = mid -/+ 1.28 x standard deviation of these days x sqrt(days left + days left^2 / number of days), low at least spent",
    example:
      "48000 USD are spent, 10 days are left, the last 28 days cost 2400 USD each with a standard deviation of 300: mid = 48000 + 24000 = 72000, 1.28 x 300 x sqrt(10 + 100 / 28) = 1415, so low = 70585 and high = 73415.",
    labels: ["cluster", "team", "currency", "bound"],
    values: { bound: forecastBounds },
    stability: "alpha",
  },
  fairlead_budget_burn_rate_ratio: {
    unit: "ratio",
    help: "How fast a team spends its budget: at 1 it is used up exactly when the month ends, at 2 after half of it.",
    formula: "(spent / budget) / (time of the month that has passed / length of the month)",
    example: "48000 of 60000 USD are spent after 20 of 30 days: (48000 / 60000) / (20 / 30) = 0.8 / 0.667 = 1.2.",
    labels: ["cluster", "team", "currency"],
    stability: "alpha",
  },
  fairlead_budget_covered_ratio: {
    unit: "ratio",
    help: "Part of the month so far that is accounted for; what was spent in the rest is in no number of a budget.",
    formula: "covered seconds since the month began / seconds since then",
    example: "19 of the 20 days so far are covered: 19 / 20 = 0.95.",
    labels: ["cluster", "team", "currency"],
    stability: "alpha",
  },
} as const satisfies MetricArea;
