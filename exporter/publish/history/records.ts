import type { Budgets } from "../../history/budgetWatch.ts";
import type { Costs, CostView } from "../../history/costs.ts";
import type { History, TotalsAnswer, TotalsQuestion } from "../../history/history.ts";
import type { WaterfallAmount, WaterfallAnswer } from "../../history/waterfall.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";
import { isoTime } from "../../kernel/isoTime.ts";

type Source = Pick<History, "name" | "kind">;

/** The fields that say who answered, for which window, and how much of it is known. */
function headOf(answer: Omit<TotalsAnswer, "rows">, { name, kind }: Source, now: number) {
  return {
    from: isoTime(answer.from),
    to: isoTime(answer.to),
    source: { name, kind },
    coverage: coverageRecord(answer, now),
  };
}

const named = (names: readonly string[], values: readonly string[]) =>
  Object.fromEntries(names.map((name, i) => [name, values[i] === "" ? null : (values[i] ?? null)]));

/** Totals in the form in which `/api/v1/history` returns them, the largest first; openapi.json describes it. */
export function totalsRecord(
  answer: TotalsAnswer,
  { by }: Pick<TotalsQuestion, "by">,
  source: Source,
  limit: number,
  now: number,
) {
  const rows = answer.rows.toSorted((one, other) => other.gpuSeconds - one.gpuSeconds);
  return {
    ...headOf(answer, source, now),
    by,
    total: rows.length,
    items: rows.slice(0, limit).map(({ values, ...sums }) => ({ ...named(by, values), ...sums })),
  };
}

/** Costs in the form in which `/api/v1/costs` returns them. */
export function costsRecord(
  answer: Omit<TotalsAnswer, "rows">,
  costs: Costs,
  view: CostView,
  source: Source,
  limit: number,
  now: number,
) {
  return {
    ...headOf(answer, source, now),
    by: view.by,
    charge: view.charge,
    notCharged: view.notCharged,
    shareUnallocated: view.sharesUnallocated ? "allocation" : null,
    total: costs.items.length,
    items: costs.items.slice(0, limit).map(({ values, ...item }) => ({ ...named(view.by, values), ...item })),
    unallocated: costs.unallocated,
    bill: costs.bill,
  };
}

/** Budgets in the form in which `/api/v1/budgets` returns them. */
export function budgetsRecord({ at, source, budgets }: Budgets) {
  return { at: isoTime(at), source, total: budgets.length, items: budgets };
}

/** How much of a window an answer covers. If the window reaches into the future, only the part that has passed counts. */
export function coverageRecord(
  { from, to, coveredSeconds }: { readonly from: number; readonly to: number; readonly coveredSeconds: number },
  now: number,
) {
  const windowSeconds = Math.max(0, Math.min(to, now) - from);
  return { windowSeconds, coveredSeconds, ratio: windowSeconds > 0 ? Math.min(1, coveredSeconds / windowSeconds) : 0 };
}

/** A waterfall in the form of `fairlead waterfall --output json` and `/api/v1/waterfall`; openapi.json describes it. */
export function waterfallRecord(answer: WaterfallAnswer, now: number) {
  return {
    from: isoTime(answer.from),
    to: isoTime(answer.to),
    source: answer.source,
    coverage: coverageRecord(answer, now),
    unpricedGpuSeconds: answer.unpricedGpuSeconds,
    stages: answer.stages.map(({ drops, ...stage }) => ({
      ...stage,
      drops: drops.map(({ isAllocated, state, ...amount }) => ({ state, allocated: isAllocated, ...amount })),
    })),
  };
}

/** A waterfall as RFC 4180 text: a line for each level and each drop, a column for each currency. */
export function waterfallCsv({ stages }: WaterfallAnswer): string {
  const currencies = [...new Set(stages.flatMap(({ costs }) => Object.keys(costs)))].sort();
  const heading = [
    "level",
    "drop",
    "allocated",
    "gpuSeconds",
    "unpricedGpuSeconds",
    ...currencies.map((name) => `cost_${name}`),
  ];
  const lines = stages.flatMap((stage) => [
    [stage.level, "", "", ...amounts(stage, currencies)],
    ...stage.drops.map((drop) => [stage.level, drop.state, `${drop.isAllocated}`, ...amounts(drop, currencies)]),
  ]);
  const texts = [heading.map(csvTextCell), ...lines];
  return texts.map(csvLine).join("");
}

function amounts(
  { gpuSeconds, unpricedGpuSeconds, costs }: WaterfallAmount,
  currencies: readonly string[],
): readonly string[] {
  return [
    csvNumberCell(gpuSeconds),
    csvNumberCell(unpricedGpuSeconds),
    ...currencies.map((currency) => csvNumberCell(costs[currency] ?? 0)),
  ];
}
