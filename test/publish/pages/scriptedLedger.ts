import type { AccountsQuery, AccountsResult, LedgerCoverage } from "../../../exporter/accounts/ledger/accountsQuery.ts";
import type { LedgerTableQuery, LedgerTableResult } from "../../../exporter/accounts/ledger/ledgerTableQuery.ts";
import { amountsOf } from "../../../exporter/accounts/ledger/ledgerTableSources.ts";

const hour = 3600;

/** A ledger that has the same in every hour of a window but for its gaps: 6 GPUs allocated to anybody, 4 of them active. */
export function scriptedLedger(gaps: LedgerCoverage["gaps"] = []) {
  const asked: (AccountsQuery | LedgerTableQuery)[] = [];
  const coverageOf = ({ from, to }: { from: number; to: number }): LedgerCoverage => {
    const lost = gaps.reduce((sum, gap) => sum + Math.max(0, Math.min(to, gap.to) - Math.max(from, gap.from)), 0);
    const windowSeconds = to - from;
    const coveredSeconds = windowSeconds - lost;
    return { windowSeconds, coveredSeconds, ratio: coveredSeconds / windowSeconds, gaps, gapsLeftOut: 0 };
  };
  /** Begins of the steps of a window, and how much of each is covered. */
  const steps = ({ from, to, groupBy }: { from: number; to: number; groupBy: readonly string[] }) => {
    const seconds = groupBy.includes("day") ? 24 * hour : groupBy.includes("hour") ? hour : to - from;
    return Array.from({ length: (to - from) / seconds }, (_, i) => {
      const begin = from + i * seconds;
      const text = new Date(begin * 1000).toISOString();
      const at = groupBy.includes("day") ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
      return { at, covered: coverageOf({ from: begin, to: begin + seconds }).coveredSeconds };
    });
  };
  const sums = (gpuSeconds: number) => ({
    gpuSeconds,
    estimatedGpuSeconds: 0,
    energyJoules: null,
    meteredGpuSeconds: 0,
    costs: new Map(),
    cost: null,
    pricedGpuSeconds: 0,
  });
  const ledger = async (query: AccountsQuery): Promise<AccountsResult> => {
    asked.push(query);
    const rows = steps(query).flatMap(({ at, covered }) =>
      covered === 0
        ? []
        : [
            { values: [at, "active"], ...sums(4 * covered) },
            { values: [at, "idle"], ...sums(2 * covered) },
          ],
    );
    const { from, to, groupBy } = query;
    const answer = { from, to, groupBy, rows, totalRows: rows.length, totals: sums(0), coverage: coverageOf(query) };
    return { ok: true, answer };
  };
  const amounts = (query: LedgerTableQuery, covered: number): Readonly<Record<string, number | null>> => ({
    ...Object.fromEntries(amountsOf(query.of).map((name) => [name, null])),
    ...(query.of === "queues"
      ? { allocated: 6 * covered, entitled: 8 * covered, pending: covered, judgedSeconds: covered, seconds: covered }
      : { streaks: 1, seconds: covered / 4, gpuSeconds: 2 * covered }),
  });
  const ledgerTables = async (query: LedgerTableQuery): Promise<LedgerTableResult> => {
    asked.push(query);
    const rows = steps(query).flatMap(({ at, covered }) =>
      covered === 0
        ? []
        : [{ values: [query.of === "queues" ? at : "idle_unallocated"], amounts: amounts(query, covered) }],
    );
    const { of, from, to, groupBy } = query;
    const answer = { of, from, to, groupBy, rows, totalRows: rows.length, totals: {}, coverage: coverageOf(query) };
    return { ok: true, answer };
  };
  return { ledger, ledgerTables, asked };
}
