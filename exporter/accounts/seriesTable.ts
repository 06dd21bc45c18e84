/** What is counted by label set, bounded in number. A label set that has a cell of its own keeps it. */
export interface SeriesTable<Labels, Cell> {
  /** The cell that counts for these labels: their own, or one that they share with others. */
  cell(labels: Labels): Cell;
  /** In the order in which they came up. */
  readonly cells: readonly Cell[];
}

/** Labels that a label set shares with others. */
export type Fold<Labels> = (labels: Labels) => Labels;

/** The part of the budget that is kept for shared label sets. */
const sharedPart = 0.2;

/**
 * Creates a table with at most `budget` cells. When four fifths of them are taken, new label sets count under the
 * labels that `fold` makes of them, and when that does not fit either, under those of `lastFold`, which always fit: it
 * must leave few label sets. Nothing is ever given back: a series that came and went would look like a reset. Label
 * sets must always be written with their names in one order.
 */
export function createSeriesTable<Labels extends object, Cell>(
  budget: number,
  fold: Fold<Labels>,
  lastFold: Fold<Labels>,
  empty: (labels: Labels) => Cell,
): SeriesTable<Labels, Cell> {
  const cells: Cell[] = [];
  const byLabels = new Map<string, Cell>();
  const ownLimit = Math.floor(budget * (1 - sharedPart));

  function find(labels: Labels, limit: number): Cell | null {
    const key = JSON.stringify(labels);
    const known = byLabels.get(key);
    if (known !== undefined) return known;
    return cells.length < limit ? open(key, labels) : null;
  }

  function open(key: string, labels: Labels): Cell {
    const cell = empty(labels);
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
