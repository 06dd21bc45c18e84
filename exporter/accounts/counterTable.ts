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

/** Labels that a label set shares with others. */
export type Fold<Labels> = (labels: Labels) => Labels;

/** The part of the budget that is kept for shared label sets. */
const sharedPart = 0.2;

/**
 * Creates a counter with at most `budget` series. When four fifths of them are taken, new label sets count under the
 * labels that `fold` makes of them, and when that does not fit either, under those of `lastFold`, which always fit: it
 * must leave few label sets. Nothing is ever given back: a series that came and went would look like a reset. Label
 * sets must always be written with their names in one order.
 */
export function createCounterTable<Labels extends object>(
  budget: number,
  fold: Fold<Labels>,
  lastFold: Fold<Labels>,
): CounterTable<Labels> {
  const cells: CounterCell<Labels>[] = [];
  const byLabels = new Map<string, CounterCell<Labels>>();
  const ownLimit = Math.floor(budget * (1 - sharedPart));

  function find(labels: Labels, limit: number): CounterCell<Labels> | null {
    const key = JSON.stringify(labels);
    const known = byLabels.get(key);
    if (known !== undefined) return known;
    return cells.length < limit ? open(key, labels) : null;
  }

  function open(key: string, labels: Labels): CounterCell<Labels> {
    const cell = { labels, value: 0 };
    cells.push(cell);
    byLabels.set(key, cell);
    return cell;
  }

  return {
    cells,
    cell(labels) {
      const found = find(labels, ownLimit) ?? find(fold(labels), budget);
      if (found !== null) return found;
      const last = lastFold(labels);
      const key = JSON.stringify(last);
      return byLabels.get(key) ?? open(key, last);
    },
  };
}
