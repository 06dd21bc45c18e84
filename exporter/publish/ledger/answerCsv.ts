import type { AccountsAnswer } from "../../accounts/ledger/accountsQuery.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";

const amountNames = [
  "gpuSeconds",
  "estimatedGpuSeconds",
  "energyJoules",
  "meteredGpuSeconds",
  "pricedGpuSeconds",
] as const;

/**
 * An answer as RFC 4180 text with a heading; unknown values are empty. Each currency has a column `cost_CURRENCY`, so that
 * different ones are not added up.
 */
export function answerCsv(answer: AccountsAnswer): string {
  const currencies = [...answer.totals.costs.keys()];
  const lines = [
    [...answer.groupBy, ...amountNames, ...currencies.map((currency) => csvTextCell(`cost_${currency}`))],
    ...answer.rows.map((row) => [
      ...row.values.map(csvTextCell),
      ...amountNames.map((name) => csvNumberCell(row[name])),
      ...currencies.map((currency) => csvNumberCell(row.costs.get(currency) ?? null)),
    ]),
  ];
  return lines.map(csvLine).join("");
}
