import type { AccountFilter, AccountsQuery, AccountsResult } from "../accounts/ledger/accountsQuery.ts";
import type { LedgerTableQuery, LedgerTableResult } from "../accounts/ledger/ledgerTableQuery.ts";
import { secondsPerDay, secondsPerHour } from "../accounts/ledger/schema.ts";
import { countedQueueAmounts } from "../accounts/posting.ts";
import {
  type History,
  type TotalsQuestion,
  type TotalsResult,
  tooManyGroups,
  totalsFilters,
  wrongWindow,
} from "./history.ts";
import { type QueueHistory, sumQueueTotals } from "./queueHistory.ts";
import { createTotalsSum } from "./totalsSum.ts";

/** The most groups of one answer; no person or page can use more. */
const maxGroups = 100_000;

/**
 * The history that a ledger keeps, queried through `ask`. A ledger knows whole hours, and whole days (UTC) for the time that it
 * has folded: a window that cuts them is widened, and the answer contains the window that was used.
 */
export function createLedgerHistory(name: string, ask: (query: AccountsQuery) => Promise<AccountsResult>): History {
  const within = async (question: TotalsQuestion, step: number): Promise<AccountsResult> =>
    await ask({
      from: Math.floor(question.from / step) * step,
      to: Math.ceil(question.to / step) * step,
      groupBy: question.by,
      where: filtersOf(question.where),
      limit: maxGroups,
    });
  return {
    name,
    kind: "ledger",
    async totals(question) {
      const wrong = wrongWindow(question);
      if (wrong !== null) return wrong;
      const byHour = await within(question, secondsPerHour);
      const isCut = !byHour.ok && byHour.fault === "question";
      return totalsFrom(isCut ? await within(question, secondsPerDay) : byHour);
    },
  };
}

function totalsFrom(result: AccountsResult): TotalsResult {
  if (!result.ok) {
    const { error, nextStep, fault } = result;
    return { ok: false, error, nextStep, ...(fault === "question" ? { isRefused: true } : {}) };
  }
  const { answer } = result;
  if (answer.totalRows > answer.rows.length) return tooManyGroups(maxGroups);
  const sum = createTotalsSum();
  for (const { values, gpuSeconds, costs, pricedGpuSeconds } of answer.rows) {
    const unpricedGpuSeconds = Math.max(0, gpuSeconds - pricedGpuSeconds);
    sum.add({ values: values.map((value) => value ?? ""), gpuSeconds, costs, unpricedGpuSeconds });
  }
  const { from, to, coverage } = answer;
  return { ok: true, answer: { rows: sum.rows(true), coveredSeconds: coverage.coveredSeconds, from, to } };
}

function filtersOf(where: TotalsQuestion["where"]): ReadonlyMap<AccountFilter, readonly (string | null)[]> {
  return new Map(
    totalsFilters.flatMap((filter) => {
      const values = where[filter];
      return values === undefined ? [] : [[filter, values.map((value) => (value === "" ? null : value))] as const];
    }),
  );
}

const maxTeams = 100_000;

/** The totals of queues that a ledger keeps. Windows are whole hours, and whole days (UTC) where only these are kept. */
export function createLedgerQueueHistory(ask: (query: LedgerTableQuery) => Promise<LedgerTableResult>): QueueHistory {
  return {
    async queueTotals({ from, to, team }) {
      const where = new Map(team === null ? [] : [["team", [team === "" ? null : team]] as const]);
      const asked = await ask({ of: "queues", from, to, groupBy: ["team"], where, limit: maxTeams });
      if (!asked.ok) return { ok: false, error: asked.error, nextStep: asked.nextStep };
      const { rows, totalRows } = asked.answer;
      if (totalRows > rows.length) return tooManyGroups(maxTeams);
      return {
        ok: true,
        rows: sumQueueTotals(
          rows.flatMap(({ values, amounts }) =>
            countedQueueAmounts.flatMap((of) => {
              const amount = amounts[of] ?? null;
              return amount === null ? [] : [{ team: values[0] ?? "", of, amount }];
            }),
          ),
        ),
      };
    },
  };
}
