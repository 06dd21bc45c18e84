import { createSeriesTable, type Fold, type SeriesTable } from "./seriesTable.ts";

/** One series of a counter: it never falls. */
export interface CounterCell<Labels> {
  readonly labels: Labels;
  value: number;
}

/** The series of one counter, bounded in number (`SeriesTable`). New ones are at 0. */
export type CounterTable<Labels> = SeriesTable<Labels, CounterCell<Labels>>;

/** Creates a counter with at most `budget` series (`createSeriesTable`). */
export function createCounterTable<Labels extends object>(
  budget: number,
  fold: Fold<Labels>,
  lastFold: Fold<Labels>,
): CounterTable<Labels> {
  return createSeriesTable(budget, fold, lastFold, (labels) => ({ labels, value: 0 }));
}
