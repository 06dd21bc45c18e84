import type { AccountSums, AccountsAnswer } from "../../accounts/ledger/accountsQuery.ts";
import { isoTime } from "../../kernel/isoTime.ts";

/** An answer of the ledger as `fairlead ledger query --output json` and `/api/v1/ledger` give it; described in openapi.json. */
export function answerRecord(answer: AccountsAnswer) {
  const { coverage, groupBy, rows } = answer;
  return {
    from: isoTime(answer.from),
    to: isoTime(answer.to),
    by: groupBy,
    total: answer.totalRows,
    items: rows.map((row) => ({
      ...Object.fromEntries(groupBy.map((dimension, i) => [dimension, row.values[i] ?? null])),
      ...sums(row),
    })),
    totals: sums(answer.totals),
    coverage: {
      windowSeconds: coverage.windowSeconds,
      coveredSeconds: coverage.coveredSeconds,
      ratio: coverage.ratio,
      gaps: coverage.gaps.map(({ from, to, reason }) => ({ from: isoTime(from), to: isoTime(to), reason })),
      gapsLeftOut: coverage.gapsLeftOut,
    },
  };
}

function sums({ gpuSeconds, estimatedGpuSeconds, energyJoules, meteredGpuSeconds, ...priced }: AccountSums) {
  const { pricedGpuSeconds, cost, costs } = priced;
  return {
    gpuSeconds,
    estimatedGpuSeconds,
    energyJoules,
    meteredGpuSeconds,
    pricedGpuSeconds,
    cost,
    costs: Object.fromEntries(costs),
  };
}
