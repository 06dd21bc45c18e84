import { aggregate, arithmetic, arithmeticOn, filter, secondsSince, where } from "../../exporter/catalogue/promql.ts";
import { labelFrom, seriesOverTime } from "../../exporter/catalogue/promqlSeries.ts";
import type { AlertName } from "../alertList.ts";
import { type Conditions, recorded, subject } from "./recorded.ts";
import { valueInGpus } from "./wording.ts";

const teamMoney = ["cluster", "team", "currency"] as const;

/** Mean number of hours of a month, with 365.25 days a year. */
const hoursPerMonth = 730.5;

/** Alerts about budgets, prices, and savings that nobody acts on. */
export const costConditions = {
  GpuBudgetBurnFast: {
    expression: (config) => {
      const { burnAbove, window, minSpentRatio } = config.alerts.GpuBudgetBurnFast;
      const lately = arithmetic(
        arithmeticOn(
          seriesOverTime("avg", recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum"), window),
          "/",
          where(recorded("cluster_team_currency:fairlead_budget_amount:max"), ">", 0),
          teamMoney,
        ),
        "*",
        hoursPerMonth,
      );
      const sinceTheMonthBegan = where(
        subject("cluster_team_currency:fairlead_budget_burn_rate_ratio:max", "GpuBudgetBurnFast", config),
        ">",
        burnAbove,
      );
      return filter(
        filter(sinceTheMonthBegan, "and", where(lately, ">", burnAbove), teamMoney),
        "and",
        where(recorded("cluster_team_currency:fairlead_budget_spent:ratio"), ">=", minSpentRatio),
        teamMoney,
      );
    },
    description:
      'Team {{ $labels.team }} in {{ $labels.cluster }} spends its {{ $labels.currency }} budget {{ $value | printf "%.1f" }} times as fast as would last for the month.',
  },
  GpuBudgetExhausted: {
    expression: (config) =>
      where(
        subject("cluster_team_currency:fairlead_budget_spent:ratio", "GpuBudgetExhausted", config),
        ">=",
        config.alerts.GpuBudgetExhausted.spentAbove,
      ),
    description:
      "Team {{ $labels.team }} in {{ $labels.cluster }} has spent {{ $value | humanizePercentage }} of its {{ $labels.currency }} budget of this month.",
  },
  GpuPriceStale: {
    expression: (config) =>
      where(
        subject("cluster_pool:fairlead_doubtful_price_gpus:sum", "GpuPriceStale", config),
        ">=",
        config.alerts.GpuPriceStale.minGpus,
      ),
    description: `The price of ${valueInGpus} of {{ $labels.pool }} in {{ $labels.cluster }} is too old, or not known.`,
  },
  GpuRecommendationIgnored: {
    expression: (config) => {
      const { openForSeconds, savingPerWeekAbove } = config.alerts.GpuRecommendationIgnored;
      const saving = subject(
        "cluster_recommendation:fairlead_recommendation_saving_per_week:max",
        "GpuRecommendationIgnored",
        config,
        { team: "from_team" },
      );
      const firstSeen = recorded("cluster_recommendation:fairlead_recommendation_first_seen_timestamp_seconds:min");
      const old = filter(saving, "and", where(secondsSince(firstSeen), ">=", openForSeconds), [
        "cluster",
        "kind",
        "id",
      ]);
      return where(aggregate("sum", labelFrom(old, "team", "from_team"), teamMoney), ">", savingPerWeekAbove);
    },
    description:
      'Recommendations{{ if $labels.team }} for team {{ $labels.team }}{{ end }} in {{ $labels.cluster }} that would save {{ $value | printf "%.0f" }} {{ $labels.currency }} a week have been open for long; each can be followed, or dismissed with a reason.',
  },
} satisfies Partial<Conditions<AlertName>>;
