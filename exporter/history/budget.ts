import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { isCharged } from "../model/charge.ts";
import type { History, TotalsRow } from "./history.ts";
import { monthOf } from "./month.ts";

/** What a team may cost in a calendar month (UTC), by allocation. */
export interface Budget {
  readonly team: string;
  readonly perMonth: number;
  readonly currency: string;
}

/** One UTC day, or the part of it that has passed, as the history has it. */
export interface DayTotals {
  /** Seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly coveredSeconds: number;
  /** By team and state, in this order. */
  readonly rows: readonly TotalsRow[];
}

/** How a budget is doing. */
export interface BudgetStatus extends Budget {
  /** `2026-11`. */
  readonly month: string;
  /** Charged so far in this month, as far as it is covered; `null` where nothing is, or the team's GPU time has no price. */
  readonly spent: number | null;
  /** At the end of the month. */
  readonly forecast: Forecast | null;
  /** Part of the budget that is spent over the part of the month that has passed: at 1, it is used up exactly at its end. */
  readonly burnRate: number | null;
  /** Part of the month so far that is counted, 0..1. */
  readonly coveredRatio: number | null;
  /** Currencies of the team's other costs, which are in no number here. */
  readonly otherCurrencies: readonly string[];
}

/** By what days must be distinguished, in this order. */
const budgetDimensions = ["team", "state"] as const;

/** Days that a forecast looks back. */
export const forecastDays = 28;

/**
 * Works out a budget as of `now` from the days of the month so far and of the last 28 days. What is charged is what the team
 * held, used or not, but for states that nobody pays for (`cost.notCharged`).
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

/** A team that held nothing spent nothing; if its time has no price at all, its spending is unknown. */
function isPriced(days: readonly DayTotals[], { team }: Budget): boolean {
  const rows = days.flatMap((day) => ofTeam(day, team));
  return rows.length === 0 || rows.some(({ costs }) => Object.keys(costs).length > 0);
}

function otherCurrencies(days: readonly DayTotals[], { team, currency }: Budget): readonly string[] {
  const found = new Set(days.flatMap((day) => ofTeam(day, team).flatMap(({ costs }) => Object.keys(costs))));
  found.delete(currency);
  return [...found].sort();
}

/** Why days cannot be had. */
interface BudgetDaysFailure {
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

/** What one day cost, and how much of it is counted. */
interface DailyAmount {
  readonly amount: number;
  readonly coveredSeconds: number;
}

/** An amount at the end of a period; low and high are `null` where days cannot be compared yet. */
interface Forecast {
  readonly low: number | null;
  readonly mid: number;
  readonly high: number | null;
  /** Days that are covered at least by half: the range is computed from them. */
  readonly days: number;
}

/** A day with less coverage says nothing about the spread. */
const leastCoveredPart = 0.5;
/** For a normal distribution, so that four ends in five are within the range. */
const deviationsOfRange = 1.28;

/**
 * What a period will have come to: what was spent and the mean day for each day that remains. Time that is not covered is left
 * out of the mean, so a day that is half covered counts half. The range is that of a sum of independent days (the spread of
 * the days, and of their mean): 1.28 standard deviations to each side, never below what is spent. `null` until a whole day is covered.
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

/** For a sample. */
function standardDeviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}
