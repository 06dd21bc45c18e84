import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { isCharged } from "../model/charge.ts";
import type { History, TotalsRow } from "./history.ts";
import { monthOf } from "./month.ts";

/** The amount that a team may cost in a calendar month (UTC), by allocation. */
export interface Budget {
  readonly team: string;
  readonly perMonth: number;
  readonly currency: string;
}

/** One UTC day, or the part of it that has passed, as the history contains it. */
export interface DayTotals {
  /** Start of the day, seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly coveredSeconds: number;
  /** Totals by team and state, in this order. */
  readonly rows: readonly TotalsRow[];
}

/** The status of a budget. */
export interface BudgetStatus extends Budget {
  /** The calendar month, such as `2026-11`. */
  readonly month: string;
  /** Charged so far in this month, as far as it is covered; `null` where none of it is, or the team's GPU time has no price. */
  readonly spent: number | null;
  /** The amount at the end of the month; `null` until it can be estimated. */
  readonly forecast: Forecast | null;
  /**
   * The part of the budget that is spent, divided by the part of the month that has passed. At 1, the budget is used up exactly
   * at the end of the month.
   */
  readonly burnRate: number | null;
  /** Part of the month so far that is counted, 0..1. */
  readonly coveredRatio: number | null;
  /** Currencies of the team's other costs; no number here contains those costs. */
  readonly otherCurrencies: readonly string[];
}

/** The dimensions by which days must be grouped, in this order. */
const budgetDimensions = ["team", "state"] as const;

/** The number of days that a forecast looks back. */
export const forecastDays = 28;

/**
 * Computes the status of a budget as of `now`, from the days of the month so far and of the last 28 days. A team is charged for
 * what it held, used or not, except in states that nobody pays for (`cost.notCharged`).
 */
export function budgetStatus(
  budget: Budget,
  days: readonly DayTotals[],
  now: number,
  notCharged: readonly string[],
): BudgetStatus {
  const month = monthOf(now);
  const inMonth = days.filter(({ from }) => from >= month.from && from < month.to);
  const recent = days.filter(({ from, to }) => to > now - forecastDays * secondsPerDay && from < now);
  const elapsed = now - month.from;
  const spentSum = inMonth.reduce((sum, day) => sum + chargedOn(day, budget, notCharged), 0);
  const covered = inMonth.reduce((sum, { coveredSeconds }) => sum + coveredSeconds, 0);
  const spent = covered > 0 && isPriced([...inMonth, ...recent], budget) ? spentSum : null;
  const daily = recent.map((day) => ({
    amount: chargedOn(day, budget, notCharged),
    coveredSeconds: day.coveredSeconds,
  }));
  const spentPart = spent === null || budget.perMonth <= 0 ? null : spent / budget.perMonth;
  return {
    ...budget,
    month: month.name,
    spent,
    forecast: spent === null ? null : forecastOf(spent, daily, month.to - now),
    burnRate: spentPart === null || elapsed <= 0 ? null : (spentPart * (month.to - month.from)) / elapsed,
    coveredRatio: elapsed > 0 ? Math.min(1, covered / elapsed) : null,
    otherCurrencies: otherCurrencies([...inMonth, ...recent], budget),
  };
}

function ofTeam({ rows }: DayTotals, team: string): readonly TotalsRow[] {
  return rows.filter(({ values }) => values[0] === team);
}

function chargedOn(day: DayTotals, { team, currency }: Budget, notCharged: readonly string[]): number {
  return ofTeam(day, team)
    .filter(({ values }) => isCharged(values[1] ?? "", "allocation", notCharged))
    .reduce((sum, { costs }) => sum + (costs[currency] ?? 0), 0);
}

/**
 * Whether the spending of a team is known. A team that held nothing spent nothing; if its time has no price at all, its
 * spending is unknown.
 */
function isPriced(days: readonly DayTotals[], { team }: Budget): boolean {
  const rows = days.flatMap((day) => ofTeam(day, team));
  return rows.length === 0 || rows.some(({ costs }) => Object.keys(costs).length > 0);
}

function otherCurrencies(days: readonly DayTotals[], { team, currency }: Budget): readonly string[] {
  const found = new Set(days.flatMap((day) => ofTeam(day, team).flatMap(({ costs }) => Object.keys(costs))));
  found.delete(currency);
  return [...found].sort();
}

/** The reason why days are not available. */
interface BudgetDaysFailure {
  readonly error: string;
  readonly nextStep: string;
}

/**
 * The days of some teams from a midnight to a moment, from which budgets are computed; the last day ends at that moment. A day
 * in `known` is not requested. A day that is not in the history has no coverage.
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

/** The cost of one day, and how much of the day is counted. */
interface DailyAmount {
  readonly amount: number;
  readonly coveredSeconds: number;
}

/** An amount at the end of a period; low and high are `null` where days cannot be compared yet. */
interface Forecast {
  readonly low: number | null;
  readonly mid: number;
  readonly high: number | null;
  /** The number of days that are covered at least by half; the range is computed from them. */
  readonly days: number;
}

/** A day with less coverage than this part is not used for the spread. */
const leastCoveredPart = 0.5;
/** The number of standard deviations to each side, so that four of five ends are within the range of a normal distribution. */
const deviationsOfRange = 1.28;

/**
 * The amount that a period will have cost at its end: what was spent, and the mean day for each day that remains. Time that is
 * not covered is left out of the mean, so a day that is half covered counts half. The range is that of a sum of independent
 * days (the spread of the days, and of their mean): 1.28 standard deviations to each side, but at least what is spent. `null`
 * until a whole day is covered.
 */
export function forecastOf(spent: number, days: readonly DailyAmount[], remainingSeconds: number): Forecast | null {
  const covered = days.reduce((sum, { coveredSeconds }) => sum + coveredSeconds, 0);
  if (covered < secondsPerDay) return null;
  const remaining = Math.max(0, remainingSeconds) / secondsPerDay;
  const mean = (secondsPerDay * days.reduce((sum, { amount }) => sum + amount, 0)) / covered;
  const mid = spent + mean * remaining;
  const whole = days
    .filter(({ coveredSeconds }) => coveredSeconds >= leastCoveredPart * secondsPerDay)
    .map(({ amount, coveredSeconds }) => (amount * secondsPerDay) / coveredSeconds);
  const count = whole.length;
  if (remaining === 0) return { low: mid, mid, high: mid, days: count };
  if (count < 2) return { low: null, mid, high: null, days: count };
  const spread = standardDeviation(whole) * Math.sqrt(remaining + (remaining * remaining) / count);
  const away = deviationsOfRange * spread;
  return { low: Math.max(spent, mid - away), mid, high: mid + away, days: count };
}

/** The standard deviation of a sample. */
function standardDeviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}
