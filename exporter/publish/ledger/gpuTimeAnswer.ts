import type { AccountSums, AccountsAnswer, AccountsRow, LedgerCoverage } from "../../accounts/ledger/accountsQuery.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";
import { isoTime } from "../../kernel/isoTime.ts";
import { duration, left, minuteOf, percent, plainText, right, tableLines } from "../terminal/columns.ts";

/**
 * An answer of the ledger in the form of `fairlead ledger query --output json` and `/api/v1/ledger`; openapi.json describes it.
 */
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
    coverage: ledgerCoverage(coverage),
  };
}

/** How much of a window is covered, as data. */
export function ledgerCoverage({ windowSeconds, coveredSeconds, ratio, gaps, gapsLeftOut }: LedgerCoverage) {
  const shown = gaps.map(({ from, to, reason }) => ({ from: isoTime(from), to: isoTime(to), reason }));
  return { windowSeconds, coveredSeconds, ratio, gaps: shown, gapsLeftOut };
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

/** The most gaps that a terminal shows. */
const shownGaps = 5;
const secondsPerHour = 3600;
const joulesPerKilowattHour = 3_600_000;

/** An answer as lines for a terminal: the groups, what is left out, the total, and how much of the window it knows. */
export function answerLines(answer: AccountsAnswer): readonly string[] {
  const { groupBy, rows, totals, totalRows } = answer;
  const currencies = [...totals.costs.keys()];
  const shownCurrencies = currencies.map((currency) => plainText(currency, 12));
  const columns = [...groupBy.map(left), ...["GPU-hours", "share", "estimated", "kWh", ...shownCurrencies].map(right)];
  const lines = tableLines(
    columns,
    rows.map((row) => [
      ...row.values.map((value) => cell(value)),
      ...amounts(row, totals.gpuSeconds),
      ...costCells(row, currencies),
    ]),
  );
  const rest = totalRows - rows.length;
  const total = (totals.gpuSeconds / secondsPerHour).toFixed(1);
  return [
    `GPU time from ${minuteOf(answer.from)} to ${minuteOf(answer.to)} (UTC): ${total} GPU-hours`,
    ...costLines(totals),
    ...coverageLines(answer.coverage),
    "",
    ...(totalRows === 0 ? ["  Nothing is counted there."] : lines),
    ...(rest > 0 ? [`  and ${rest} more; --limit shows more, --output csv is for spreadsheets`] : []),
  ];
}

/** Lines about what all of the GPU time cost, and how much of it had no price. */
function costLines({ costs, gpuSeconds, pricedGpuSeconds }: AccountSums): readonly string[] {
  if (costs.size === 0) return [];
  const amounts = [...costs].map(([currency, cost]) => `${shownCost(cost)} ${plainText(currency, 12)}`);
  const unpriced = 1 - pricedGpuSeconds / gpuSeconds;
  const part = unpriced < 0.005 ? "less than 1 %" : percent(unpriced);
  return [`Cost: ${amounts.join(", ")}${unpriced > 1e-9 ? ` (${part} of the time has no price)` : ""}`];
}

function costCells(row: AccountsRow, currencies: readonly string[]): readonly string[] {
  return currencies.map((currency) => {
    const cost = row.costs.get(currency);
    return cost === undefined ? "–" : shownCost(cost);
  });
}

const shownCost = (cost: number): string => cost.toFixed(2);

/** How much of a window is covered, and its longest gaps. */
export function coverageLines(coverage: LedgerCoverage): readonly string[] {
  const { gaps, ratio, coveredSeconds, windowSeconds } = coverage;
  const covered = `Covered: ${exactPercent(ratio)} of the window (${duration(coveredSeconds)} of ${duration(windowSeconds)})`;
  const longest = [...gaps].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, shownGaps);
  const left = gaps.length - longest.length + coverage.gapsLeftOut;
  return [
    covered,
    ...longest.map((gap) => `  not covered: ${duration(gap.to - gap.from)} from ${minuteOf(gap.from)} (${gap.reason})`),
    ...(left > 0 ? [`  and ${left} shorter gaps`] : []),
  ];
}

function amounts(row: AccountsRow, total: number): readonly string[] {
  const energy = row.energyJoules === null ? "–" : (row.energyJoules / joulesPerKilowattHour).toFixed(1);
  return [
    (row.gpuSeconds / secondsPerHour).toFixed(1),
    percent(total > 0 ? row.gpuSeconds / total : null),
    percent(row.gpuSeconds > 0 ? row.estimatedGpuSeconds / row.gpuSeconds : null),
    row.meteredGpuSeconds < row.gpuSeconds * (1 - 1e-9) && row.energyJoules !== null ? `>${energy}` : energy,
  ];
}

/** Writes a ratio in percent; it is 100 % only if nothing is missing. */
function exactPercent(ratio: number): string {
  return ratio >= 1 - 1e-9 ? "100 %" : `${(Math.floor(ratio * 10_000) / 100).toFixed(2)} %`;
}

const cell = (value: string | null): string => (value === null ? "–" : plainText(value, 48));

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
