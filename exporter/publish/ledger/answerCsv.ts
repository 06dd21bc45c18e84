import type { AccountsAnswer } from "../../accounts/ledger/accountsQuery.ts";
import { csvNumberCell, csvTextCell } from "../../kernel/csvCell.ts";

const amountNames = ["gpuSeconds", "estimatedGpuSeconds", "energyJoules", "meteredGpuSeconds"] as const;

/** An answer as RFC 4180 text with a heading; what is unknown is empty. */
export function answerCsv(answer: AccountsAnswer): string {
  const lines = [
    [...answer.groupBy, ...amountNames],
    ...answer.rows.map((row) => [
      ...row.values.map(csvTextCell),
      ...amountNames.map((name) => csvNumberCell(row[name])),
    ]),
  ];
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}
