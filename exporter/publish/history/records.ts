import type { Budgets } from "../../history/budgetWatch.ts";
import type { Costs, CostView } from "../../history/costs.ts";
import type { History, TotalsAnswer, TotalsQuestion } from "../../history/history.ts";
import { isoTime } from "../../kernel/isoTime.ts";
import { coverageRecord } from "./coverageRecord.ts";

type Source = Pick<History, "name" | "kind">;

/** Who answered, for which window, and how much of it is known. */
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

/** Totals as `/api/v1/history` gives them, the largest first; described in openapi.json. */
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

/** Costs as `/api/v1/costs` gives them. */
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

/** Budgets as `/api/v1/budgets` gives them. */
export function budgetsRecord({ at, source, budgets }: Budgets) {
  return { at: isoTime(at), source, total: budgets.length, items: budgets };
}
