import type { LedgerTable, LedgerTableAmounts, LedgerTableAnswer } from "../../accounts/ledger/ledgerTableQuery.ts";
import { amountsOf } from "../../accounts/ledger/ledgerTableSources.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";
import { isoTime } from "../../kernel/isoTime.ts";
import { gangSizes } from "../../model/topology.ts";
import { duration, left, minuteOf, percent, plainText, right, tableLines } from "../terminal/columns.ts";
import { coverageLines, ledgerCoverage } from "./gpuTimeAnswer.ts";

const secondsPerHour = 3600;

/** The record of an answer about a table of the ledger. */
export function ledgerTableRecord(answer: LedgerTableAnswer) {
  const { coverage, groupBy, rows } = answer;
  return {
    of: answer.of,
    from: isoTime(answer.from),
    to: isoTime(answer.to),
    by: groupBy,
    total: answer.totalRows,
    items: rows.map(({ values, amounts }) => ({
      ...Object.fromEntries(groupBy.map((dimension, i) => [dimension, values[i] ?? null])),
      ...amounts,
    })),
    totals: answer.totals,
    coverage: ledgerCoverage(coverage),
  };
}

/** An answer of a ledger table as RFC 4180 text with a heading; what is unknown is empty. */
export function ledgerTableCsv({ of, groupBy, rows }: LedgerTableAnswer): string {
  const names = amountsOf(of);
  const lines = rows.map(({ values, amounts }) => [
    ...values.map(csvTextCell),
    ...names.map((name) => csvNumberCell(amounts[name] ?? null)),
  ]);
  return [[...groupBy, ...names], ...lines].map(csvLine).join("");
}

/** An answer of a ledger table as lines for a terminal. */
export function ledgerTableLines(answer: LedgerTableAnswer): readonly string[] {
  const { of, groupBy, rows, totals, totalRows } = answer;
  const shown = shownAmounts[of];
  const columns = [...groupBy.map(left), ...shown.map(({ heading }) => right(heading))];
  const cells = (amounts: LedgerTableAmounts): readonly string[] =>
    shown.map(({ name, show }) => (amounts[name] == null ? "–" : show(amounts[name])));
  const lines = tableLines(
    columns,
    rows.map(({ values, amounts }) => [
      ...values.map((value) => (value === null ? "–" : plainText(value, 48))),
      ...cells(amounts),
    ]),
  );
  const total = shown.map(({ heading }, i) => `${heading} ${cells(totals)[i] ?? ""}`).join(", ");
  const rest = totalRows - rows.length;
  return [
    `${titles[of]} from ${minuteOf(answer.from)} to ${minuteOf(answer.to)} (UTC)`,
    ...coverageLines(answer.coverage),
    "",
    ...(totalRows === 0 ? ["  Nothing is recorded there."] : [...lines, `  in all: ${total}`]),
    ...(rest > 0 ? [`  and ${rest} more; --limit shows more, --output csv is for spreadsheets`] : []),
  ];
}

const titles: Readonly<Record<LedgerTable, string>> = {
  queues: "GPU-hours of queues",
  domains: "GPU-hours of quota domains",
  waits: "Ended waits",
  evictions: "Evictions",
  failures: "Programs that failed and were started again",
  nodes: "Node-hours",
  nodeStreaks: "Nodes that were idle, cordoned or not ready for an hour or longer",
  placement: "GPU-hours that were free, and of what use they were",
  topology: "Hours in which a gang of so many GPUs would have fitted within one domain of a level",
  outages: "GPUs that could not be used for five minutes or longer",
  health: "GPU-hours lost to faults of hardware and nodes, or slowed down",
  serving: "What workloads that serve did",
  recommendations: "Recommendations",
};

interface Shown {
  readonly name: string;
  readonly heading: string;
  readonly show: (amount: number) => string;
}

const hours = (seconds: number): string => (seconds / secondsPerHour).toFixed(1);
const count = (amount: number): string => String(amount);

const shownAmounts: Readonly<Record<LedgerTable, readonly Shown[]>> = {
  queues: [
    { name: "allocated", heading: "allocated", show: hours },
    { name: "entitled", heading: "entitled", show: hours },
    { name: "deviationRatio", heading: "deviation", show: (ratio) => `${ratio > 0 ? "+" : ""}${percent(ratio)}` },
    { name: "shortfallByBorrowers", heading: "short by others", show: hours },
    { name: "shortfallByIdleGap", heading: "short by idle gap", show: hours },
    { name: "shortfallByAbsentCapacity", heading: "without nodes", show: hours },
    { name: "shortfallByIndivisible", heading: "of no use", show: hours },
    { name: "pending", heading: "pending", show: hours },
    { name: "guaranteed", heading: "guaranteed", show: hours },
  ],
  domains: [
    { name: "capacity", heading: "capacity", show: hours },
    { name: "allocated", heading: "allocated", show: hours },
    { name: "pending", heading: "pending", show: hours },
    { name: "guaranteed", heading: "guaranteed", show: hours },
  ],
  waits: [
    { name: "waits", heading: "waits", show: count },
    { name: "meanSeconds", heading: "mean", show: duration },
    { name: "p50Seconds", heading: "p50", show: duration },
    { name: "p95Seconds", heading: "p95", show: duration },
  ],
  evictions: [
    { name: "evictions", heading: "evictions", show: count },
    { name: "preemptions", heading: "preemptions", show: count },
    { name: "lostGpuSeconds", heading: "lost GPU-hours", show: hours },
    { name: "upperBoundGpuSeconds", heading: "of it at most", show: hours },
    { name: "unknownLost", heading: "loss unknown", show: count },
  ],
  failures: [
    { name: "failures", heading: "failures", show: count },
    { name: "lostGpuSeconds", heading: "lost GPU-hours", show: hours },
    { name: "upperBoundGpuSeconds", heading: "of it at most", show: hours },
    { name: "unknownLost", heading: "loss unknown", show: count },
  ],
  nodes: [
    { name: "nodeSeconds", heading: "node-hours", show: hours },
    { name: "pricedNodeSeconds", heading: "with a price", show: hours },
    { name: "cost", heading: "cost", show: (cost) => cost.toFixed(2) },
  ],
  nodeStreaks: [
    { name: "streaks", heading: "times", show: count },
    { name: "seconds", heading: "node-hours", show: hours },
    { name: "gpuSeconds", heading: "GPU-hours", show: hours },
    { name: "longestSeconds", heading: "longest", show: duration },
    { name: "longestBegins", heading: "from", show: minuteOf },
    { name: "longestEnds", heading: "to", show: minuteOf },
  ],
  placement: [
    { name: "free", heading: "free", show: hours },
    { name: "stranded", heading: "stranded", show: hours },
    { name: "blocked", heading: "blocked", show: hours },
    { name: "largestPlaceableMin", heading: "largest pod: least", show: count },
    { name: "largestPlaceableMean", heading: "mean", show: (gpus) => gpus.toFixed(1) },
    { name: "largestPlaceableMax", heading: "most", show: count },
  ],
  topology: [
    ...gangSizes.map((gang) => ({ name: `fitted${gang}`, heading: `of ${gang}`, show: hours })),
    { name: "seconds", heading: "covered", show: hours },
  ],
  outages: [
    { name: "outages", heading: "times", show: count },
    { name: "seconds", heading: "hours", show: hours },
    { name: "gpuSeconds", heading: "GPU-hours", show: hours },
    { name: "repaired", heading: "repaired", show: count },
    { name: "meanRepairSeconds", heading: "after", show: duration },
    { name: "longestBegins", heading: "from", show: minuteOf },
    { name: "longestEnds", heading: "to", show: minuteOf },
  ],
  health: [
    { name: "gpuSeconds", heading: "GPU-hours", show: hours },
    { name: "pricedGpuSeconds", heading: "with a price", show: hours },
    { name: "cost", heading: "cost", show: (cost) => cost.toFixed(2) },
  ],
  serving: [
    { name: "requests", heading: "requests", show: count },
    { name: "promptTokens", heading: "prompt tokens", show: count },
    { name: "generatedTokens", heading: "generated", show: count },
    { name: "gpuSeconds", heading: "GPU-hours", show: hours },
    { name: "tokensPerGpuHour", heading: "tokens/GPU-h", show: (tokens) => tokens.toFixed(0) },
    { name: "cost", heading: "cost", show: (cost) => cost.toFixed(2) },
    { name: "costPerMillionTokens", heading: "per million", show: (cost) => cost.toFixed(2) },
  ],
  recommendations: [
    { name: "recommendations", heading: "given", show: count },
    { name: "predictedGpus", heading: "GPUs predicted", show: (gpus) => gpus.toFixed(1) },
    { name: "takenPredictedGpus", heading: "of those taken", show: (gpus) => gpus.toFixed(1) },
    { name: "measuredGpus", heading: "measured", show: (gpus) => gpus.toFixed(1) },
    { name: "takenPredictedLostGpuHours", heading: "lost GPU-hours predicted", show: (lost) => lost.toFixed(1) },
    { name: "measuredLostGpuHours", heading: "measured", show: (lost) => lost.toFixed(1) },
  ],
};
