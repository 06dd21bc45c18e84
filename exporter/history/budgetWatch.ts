import { secondsPerDay } from "../accounts/ledger/schema.ts";
import type { Problem } from "../model/problem.ts";
import { type Budget, type BudgetStatus, budgetDays, budgetStatus, type DayTotals, forecastDays } from "./budget.ts";
import type { History } from "./history.ts";
import { monthOf } from "./month.ts";

/** The status of all budgets, as of one moment. */
export interface Budgets {
  /** The moment, in seconds since the epoch. */
  readonly at: number;
  readonly source: Pick<History, "name" | "kind">;
  readonly budgets: readonly BudgetStatus[];
}

/** Queries the history again from time to time. */
export interface BudgetWatch {
  /** The last answer; `null` before the first, and when the last is too old. */
  latest(): Budgets | null;
  problems(): readonly Problem[];
  /** Queries the history when the last answer is five minutes old and no query is running. Never rejects. */
  refreshWhenDue(): Promise<void>;
}

const refreshSeconds = 300;
/** Answers that are older than this, in seconds, are not shown: the history has not answered for an hour. */
const maxAgeSeconds = 3600;
/** A day that ended at least this many seconds ago does not change any more. */
const settledAfterSeconds = 7200;

/** Creates a watch over the budgets of the configuration. Days that are over are queried once. */
export function createBudgetWatch(
  settings: { readonly budgets: readonly Budget[]; readonly notCharged: readonly string[] },
  history: History | null,
  now: () => number,
): BudgetWatch {
  const { budgets, notCharged } = settings;
  const teams = [...new Set(budgets.map(({ team }) => team))];
  const settled = new Map<number, DayTotals>();
  let latest: Budgets | null = null;
  let failure: Problem | null = null;
  let askedAt: number | null = null;
  let underWay: Promise<void> | null = null;

  async function refresh(known: History, at: number): Promise<void> {
    const begin = Math.min(monthOf(at).from, Math.floor(at / secondsPerDay - forecastDays + 1) * secondsPerDay);
    for (const day of settled.keys()) if (day < begin) settled.delete(day);
    const days = await budgetDays(known, begin, at, teams, settled);
    if ("error" in days) {
      failure = historyFailed(known.name, days.error, days.nextStep);
      return;
    }
    for (const day of days) {
      const isWhole = day.to === day.from + secondsPerDay;
      if (isWhole && day.to < at - settledAfterSeconds) settled.set(day.from, day);
    }
    const source = { name: known.name, kind: known.kind };
    latest = { at, source, budgets: budgets.map((budget) => budgetStatus(budget, days, at, notCharged)) };
    failure = null;
  }

  return {
    latest: () => (latest !== null && now() - latest.at <= maxAgeSeconds ? latest : null),
    problems() {
      if (budgets.length === 0) return [];
      if (history === null) return [noHistory];
      return [...(failure === null ? [] : [failure]), ...(latest?.budgets ?? []).flatMap(mixedCurrencies)];
    },
    async refreshWhenDue() {
      if (history === null || budgets.length === 0 || underWay !== null) return;
      const at = now();
      if (askedAt !== null && at - askedAt < refreshSeconds && at >= askedAt) return;
      askedAt = at;
      underWay = refresh(history, at)
        .catch((error: unknown) => {
          failure = historyFailed(history.name, error instanceof Error ? error.message : String(error), reportIt);
        })
        .finally(() => {
          underWay = null;
        });
      await underWay;
    },
  };
}

const reportIt = "This is a fault in Fairlead, please report it.";

const base = { source: "budgets", severity: "warning" } as const;

const noHistory: Problem = {
  ...base,
  code: "budgets-without-history",
  subject: "cost.budgets",
  message: "budgets are set, but nothing keeps the past: what was spent is not known",
  nextStep: "Set ledger.path to keep a ledger, or history.prometheus to a server that scrapes Fairlead.",
};

function historyFailed(name: string, error: string, nextStep: string): Problem {
  return {
    ...base,
    code: "budgets-history-failed",
    subject: name,
    message: `what budgets have spent cannot be asked: ${error}`,
    nextStep,
  };
}

function mixedCurrencies({ team, currency, otherCurrencies }: BudgetStatus): readonly Problem[] {
  if (otherCurrencies.length === 0) return [];
  return [
    {
      ...base,
      code: "budget-other-currency",
      subject: team,
      message: `the budget of team ${team} is in ${currency}, but a part of its costs is in ${otherCurrencies.join(", ")} and not counted`,
      nextStep: "Give prices in one currency, or the budget in the currency of the prices.",
    },
  ];
}
