import type { budgetsMetrics } from "../../catalogue/budgets.ts";
import { forecastBounds } from "../../catalogue/labels.ts";
import type { BudgetStatus } from "../../history/budget.ts";
import type { FamilyInput, Producers } from "../family.ts";

/** How budgets are doing, as far as the history knows. */
export const budgetsProducers: Producers<keyof typeof budgetsMetrics> = {
  fairlead_budget_amount: (input) => ofBudgets(input, ({ perMonth }) => perMonth),
  fairlead_budget_spent: (input) => ofBudgets(input, ({ spent }) => spent),
  fairlead_budget_forecast: ({ budgets }) =>
    forecastBounds.flatMap((bound) =>
      (budgets?.budgets ?? []).map(({ team, currency, forecast }) => ({
        labels: { team, currency, bound },
        value: forecast?.[bound],
      })),
    ),
  fairlead_budget_burn_rate_ratio: (input) => ofBudgets(input, ({ burnRate }) => burnRate),
  fairlead_budget_covered_ratio: (input) => ofBudgets(input, ({ coveredRatio }) => coveredRatio),
};

/** One number of each budget. */
function ofBudgets({ budgets }: FamilyInput, of: (budget: BudgetStatus) => number | null) {
  return budgets?.budgets.map((budget) => {
    const { team, currency } = budget;
    return { labels: { team, currency }, value: of(budget) };
  });
}
