import type { AccountsAnswer } from "../../accounts/ledger/accountsQuery.ts";

const amountNames = ["gpuSeconds", "estimatedGpuSeconds", "energyJoules", "meteredGpuSeconds"] as const;

/** An answer as RFC 4180 text with a heading; what is unknown is empty. */
export function answerCsv(answer: AccountsAnswer): string {
  const lines = [
    [...answer.groupBy, ...amountNames],
    ...answer.rows.map((row) => [...row.values.map(textCell), ...amountNames.map((name) => numberCell(row[name]))]),
  ];
  return lines.map((cells) => `${cells.join(",")}\r\n`).join("");
}

const numberCell = (amount: number | null): string => (amount === null ? "" : String(amount));

/** Text from a cluster is untrusted: what a spreadsheet would take for a formula gets a quote before it. */
function textCell(value: string | null): string {
  if (value === null) return "";
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
