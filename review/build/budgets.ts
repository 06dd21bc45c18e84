import { budgetStatus, forecastDays } from "../../exporter/history/budget.ts";
import { budgetDays } from "../../exporter/history/budgetDays.ts";
import { monthOf } from "../../exporter/history/month.ts";
import type { TeamRow } from "../document/use.ts";
import { type Part, part, type ReviewQuestion } from "./source.ts";

const secondsPerDay = 86_400;

/** How the budgets were doing at the end of the window, or now if that is earlier. */
export async function askBudgets({
  history,
  budgets,
  notCharged,
  team,
  days,
  now,
  cluster,
}: ReviewQuestion): Promise<Part<readonly (TeamRow["budgets"][number] & { readonly team: string })[]>> {
  const asked = budgets.filter((budget) => team === null || budget.team === team);
  if (asked.length === 0) return part([]);
  // The last moment of the window: its end is already the next month's at times.
  const at = Math.min(now, days.to - 1);
  const from = Math.min(monthOf(at).from, Math.floor(at / secondsPerDay - forecastDays + 1) * secondsPerDay);
  const found = await budgetDays(history, from, at, [...new Set(asked.map((budget) => budget.team))]);
  if ("error" in found) return { ok: false, ...found };
  return part(
    asked.map((budget) => {
      const { month, currency, perMonth, spent, forecast } = budgetStatus(budget, found, at, notCharged);
      const range = forecast === null ? null : { low: forecast.low, mid: forecast.mid, high: forecast.high };
      return { team: budget.team, cluster, month, currency, perMonth, spent, forecast: range };
    }),
  );
}
