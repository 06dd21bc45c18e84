import { createSeriesTable, type Fold } from "./seriesTable.ts";

/** One series of a counter: it never falls. */
export interface CounterCell<Labels> {
  readonly labels: Labels;
  value: number;
}

/** The series of one counter, bounded in number. A label set that has its own series keeps it. */
export interface CounterTable<Labels> {
  /** The cell that counts for these labels: their own, or one that they share with others. New ones stand at 0. */
  cell(labels: Labels): CounterCell<Labels>;
  /** In the order in which they came up. */
  readonly cells: readonly CounterCell<Labels>[];
}

/** Creates a counter with at most `budget` series (`createSeriesTable`). */
export function createCounterTable<Labels extends object>(
  budget: number,
  fold: Fold<Labels>,
  lastFold: Fold<Labels>,
): CounterTable<Labels> {
  return createSeriesTable(budget, fold, lastFold, (labels) => ({ labels, value: 0 }));
}
