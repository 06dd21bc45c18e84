import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { budgetDimensions, type DayTotals } from "./budget.ts";
import type { History } from "./history.ts";

/** Why days cannot be had. */
export interface BudgetDaysFailure {
  readonly error: string;
  readonly nextStep: string;
}

/**
 * The days from a midnight to a moment, the last one cut, of some teams: what budgets are worked out from. A day in `known` is
 * not requested. A day that is not in the history has no coverage.
 */
export async function budgetDays(
  history: History,
  from: number,
  to: number,
  teams: readonly string[],
  known: ReadonlyMap<number, DayTotals> = new Map(),
): Promise<readonly DayTotals[] | BudgetDaysFailure> {
  const days: DayTotals[] = [];
  for (let begin = from; begin < to; begin += secondsPerDay) {
    const found = known.get(begin) ?? (await dayOf(history, begin, Math.min(to, begin + secondsPerDay), teams));
    if ("error" in found) return found;
    days.push(found);
  }
  return days;
}

async function dayOf(
  history: History,
  from: number,
  to: number,
  teams: readonly string[],
): Promise<DayTotals | BudgetDaysFailure> {
  const result = await history.totals({ from, to, by: budgetDimensions, where: { team: teams } });
  if (!result.ok) return result.isEmpty === true ? { from, to, coveredSeconds: 0, rows: [] } : result;
  return { from, to, coveredSeconds: result.answer.coveredSeconds, rows: result.answer.rows };
}
