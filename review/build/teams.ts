import type { JobsAnswer } from "../../exporter/accounts/ledger/jobsQuery.ts";
import type { LedgerTableAmounts, LedgerTableRow } from "../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { budgetDays, budgetStatus, forecastDays } from "../../exporter/history/budget.ts";
import type { TotalsRow } from "../../exporter/history/history.ts";
import { monthOf } from "../../exporter/history/month.ts";
import type { QueueTotalsRow } from "../../exporter/history/queueHistory.ts";
import { isCharged } from "../../exporter/model/charge.ts";
import { observedStates, runningStates, wastedStates } from "../../exporter/model/gpuStates.ts";
import type { TeamRow } from "../document/use.ts";
import { wastedHours } from "../document/wastedHours.ts";
import { hoursOf } from "./hours.ts";
import type { PeriodTotals } from "./periods.ts";
import { askTable, type Part, part, type ReviewAccounts, type ReviewQuestion } from "./source.ts";
import { largestCost, sumCosts } from "./sumCosts.ts";
import { askWaits } from "./waits.ts";

/**
 * Asks for what the table of teams has besides the totals of the window. Without a ledger, waits, evictions and jobs are not
 * known.
 */
export async function askTeams(
  question: ReviewQuestion,
  { rows, queues }: Pick<PeriodTotals, "rows" | "queues">,
  jobs: JobsAnswer | null,
): Promise<Part<TeamRow[]>> {
  const { accounts } = question;
  const evictions = await eventsByTeam(accounts, question, "evictions");
  const failures = await eventsByTeam(accounts, question, "failures");
  const waits = accounts === null ? part([]) : await askWaits(accounts, question, ["team"]);
  const budgets = await askBudgets(question);
  if (!evictions.ok) return evictions;
  if (!failures.ok) return failures;
  if (!waits.ok) return waits;
  if (!budgets.ok) return budgets;
  const allocated = Map.groupBy(
    rows.filter(({ values }) => values[1] !== ""),
    ({ values }) => values[1] ?? "",
  );
  const waitsByTeam = new Map(waits.value.map((group) => [group.values[0] ?? null, group.waits]));
  const queuesByTeam = new Map(queues?.map((row) => [row.team, row]));
  const names = new Set([...allocated.keys(), ...[...queuesByTeam.keys()].filter((name) => name !== "")]);
  const teams = [...names].map((team): TeamRow => {
    const evicted = evictions.value.get(team)?.amounts;
    return {
      team,
      ...useOf(allocated.get(team) ?? [], question.notCharged),
      ...entitlementOf(queuesByTeam.get(team)),
      waits: accounts === null ? null : (waitsByTeam.get(team) ?? noWaits),
      evictions: accounts === null ? null : (evicted?.evictions ?? 0),
      lostToEvictions: accounts === null ? null : lostHours(evicted, "evictions"),
      lostToFailures: accounts === null ? null : lostHours(failures.value.get(team)?.amounts, "failures"),
      jobs: jobs === null ? null : (jobs.countByTeam.get(team) ?? 0),
      budgets: budgets.value.filter((budget) => budget.team === team).map(({ team: _, ...budget }) => budget),
    };
  });
  return part(sortedTeams(teams));
}

const secondsPerDay = 86_400;

/** How the budgets were doing at the end of the window, or now if that is earlier. */
async function askBudgets({
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
  // The last moment of the window is meant: its end may be in the next month already.
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

/**
 * GPU-hours that evictions or failures lost: 0 without any; `null` where there were some and the loss of none of them is known.
 */
function lostHours(amounts: LedgerTableAmounts | undefined, events: "evictions" | "failures"): number | null {
  const lost = amounts?.lostGpuSeconds ?? null;
  if (lost !== null) return hoursOf(lost);
  return (amounts?.[events] ?? 0) > 0 ? null : 0;
}

const noWaits = { count: 0, p50Seconds: null, p95Seconds: null, buckets: [] };

/** Sorts teams, those that waste the most first: by money, then by GPU time, then by name. */
export function sortedTeams(teams: readonly TeamRow[]): TeamRow[] {
  return teams.toSorted(
    (one, other) =>
      largestCost(other.wasteCosts) - largestCost(one.wasteCosts) ||
      wastedHours(other) - wastedHours(one) ||
      (one.team < other.team ? -1 : 1),
  );
}

/** Utilization: the active part of what was allocated and seen; `null` if nothing was. */
export const utilizationOf = (active: number, judged: number): number | null =>
  judged > 0 ? Math.min(1, active / judged) : null;

function useOf(rows: readonly TotalsRow[], notCharged: readonly string[]) {
  const hoursIn = (...states: readonly string[]): number =>
    hoursOf(
      rows.filter(({ values }) => states.includes(values[0] ?? "")).reduce((sum, row) => sum + row.gpuSeconds, 0),
    );
  const costsOf = (isMeant: (state: string) => boolean) =>
    sumCosts(rows.filter(({ values }) => isMeant(values[0] ?? "")).map(({ costs }) => costs));
  const active = hoursIn("active");
  const judged = hoursIn(...observedStates);
  return {
    allocated: hoursOf(rows.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0)),
    active,
    judged,
    idle: hoursIn("idle"),
    stalled: hoursIn("stalled"),
    underutilized: hoursIn("underutilized"),
    whole: hoursIn(...runningStates),
    utilization: utilizationOf(active, judged),
    costs: costsOf((state) => isCharged(state, "allocation", notCharged)),
    wasteCosts: costsOf((state) => wastedStates.some((wasted) => wasted === state)),
  };
}

/** What a team was entitled to and what it lacked, in GPU-hours; `null` where no queue of the team was judged. */
function entitlementOf(row: QueueTotalsRow | undefined) {
  const known = row !== undefined && row.judgedSeconds > 0 ? row : null;
  const hours = (gpuSeconds: number | null | undefined) => (gpuSeconds == null ? null : hoursOf(gpuSeconds));
  return {
    entitled: hours(known?.entitled),
    deviation: known === null ? null : hoursOf(known.judgedAllocated - known.entitled),
    shortByOthers: hours(known?.shortfallByBorrowers),
    shortByIdleGap: hours(known?.shortfallByIdleGap),
    shortByLostNode: hours(known?.shortfallByLostNode),
    shortByNodeToCome: hours(known?.shortfallByNodeToCome),
    shortByPastQueues: hours(known?.shortfallByPastQueues),
    shortByPromisedTwice: hours(known?.shortfallByPromisedTwice),
    shortByIndivisible: hours(known?.shortfallByIndivisible),
  };
}

async function eventsByTeam(
  accounts: ReviewAccounts | null,
  { days, team }: ReviewQuestion,
  events: "evictions" | "failures",
): Promise<Part<ReadonlyMap<string | null, LedgerTableRow>>> {
  if (accounts === null) return part(new Map());
  const where = new Map(team === null ? [] : [["team", [team]] as const]);
  const asked = await askTable(accounts, days, events, ["team"], where);
  return asked.ok ? part(new Map(asked.value.map((row) => [row.values[0] ?? null, row]))) : asked;
}
