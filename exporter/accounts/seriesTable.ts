import { labelValue } from "../kernel/labelValue.ts";

/** One series of a counter: it never falls. */
export interface CounterCell<Labels> {
  readonly labels: Labels;
  value: number;
}

/** The published form of totals, while they are counted. */
export type Mutable<Totals> = { -readonly [Key in keyof Totals]: Totals[Key] };

/** The series of one counter, bounded in number (`SeriesTable`). A new series is at 0. */
type CounterTable<Labels> = SeriesTable<Labels, CounterCell<Labels>>;

/** Creates a counter with at most `budget` series (`createSeriesTable`). */
export function createCounterTable<Labels extends object>(
  budget: number,
  fold: Fold<Labels>,
  lastFold: Fold<Labels>,
): CounterTable<Labels> {
  return createSeriesTable(budget, fold, lastFold, (labels) => ({ labels, value: 0 }));
}

/** The cells of label sets, bounded in number. A label set that has a cell of its own keeps it while it is used. */
interface SeriesTable<Labels, Cell> {
  /** The cell that counts for these labels: their own, or one that they share with others. */
  cell(labels: Labels): Cell;
  /** The cells in the order in which they were created. */
  readonly cells: readonly Cell[];
  /** Marks a cell as used at the current moment (`begin`), so that it stays. */
  use(cell: Cell): void;
  /** Whether a cell still counts. */
  has(cell: Cell): boolean;
  /** Gives up the cells whose labels are gone, whether or not they are used. */
  drop(isGone: (labels: Labels) => boolean): void;
  /** Begins a moment, seconds since the epoch. Before the first one, no cell is given up. */
  begin(at: number): void;
}

/** Creates a counter by pool. */
export function createPoolCounter(budget: number): CounterTable<{ readonly pool: string }> {
  const fold = (): { readonly pool: string } => ({ pool: other });
  return createCounterTable(budget, fold, fold);
}

/** The label value of all names that have no place of their own. */
export const other = "other";

/** The label value of a holder's name that has no place of its own; it stays empty where nobody holds the GPUs. */
export const shared = (name: string): string => (name === "" ? "" : other);

/** Turns a label set into the one that it shares with others. */
type Fold<Labels> = (labels: Labels) => Labels;

/** The part of the budget that is kept for shared label sets. */
const sharedPart = 0.2;
/**
 * A cell that has not been used for this many seconds may be given to another label set if there is no other place: its series
 * has been flat for longer than an `increase` in any alert looks back, and begins at 0 if it appears again.
 */
export const keptUnusedSeconds = 3600;
/** The shortest time between two searches for unused cells, in seconds: made-up names must not cause a search all the time. */
const searchSeconds = 60;

/**
 * Creates a table with at most `budget` cells. When four fifths of them are taken, and none has been unused for an hour, new
 * label sets count under the labels that `fold` makes of them. If these do not fit either, they count under those of
 * `lastFold`, which always fit because `lastFold` yields few label sets. The names in a label set must always be in the same
 * order.
 */
export function createSeriesTable<Labels extends object, Cell extends object>(
  budget: number,
  fold: Fold<Labels>,
  lastFold: Fold<Labels>,
  empty: (labels: Labels) => Cell,
): SeriesTable<Labels, Cell> {
  const cells: Cell[] = [];
  const byLabels = new Map<string, Entry<Labels, Cell>>();
  const entryOf = new WeakMap<Cell, Entry<Labels, Cell>>();
  const ownLimit = Math.floor(budget * (1 - sharedPart));
  let now: number | null = null;
  let searchedAt = Number.NEGATIVE_INFINITY;

  function find(labels: Labels, limit: number): Cell | null {
    const key = JSON.stringify(labels);
    const known = byLabels.get(key);
    if (known !== undefined) return used(known);
    if (cells.length >= limit) giveBack();
    return cells.length < limit ? open(key, labels) : null;
  }

  function used(entry: Entry<Labels, Cell>): Cell {
    entry.usedAt = now ?? entry.usedAt;
    return entry.cell;
  }

  function open(key: string, labels: Labels): Cell {
    const entry = { cell: empty(labels), labels, usedAt: now ?? 0 };
    cells.push(entry.cell);
    byLabels.set(key, entry);
    entryOf.set(entry.cell, entry);
    return entry.cell;
  }

  function giveBack(): void {
    const at = now;
    if (at === null || Math.abs(at - searchedAt) < searchSeconds) return;
    searchedAt = at;
    remove(({ usedAt }) => usedAt < at - keptUnusedSeconds);
  }

  function remove(isGone: (entry: Entry<Labels, Cell>) => boolean): void {
    const gone = new Set<Cell>();
    for (const [key, entry] of byLabels) {
      if (!isGone(entry)) continue;
      byLabels.delete(key);
      entryOf.delete(entry.cell);
      gone.add(entry.cell);
    }
    if (gone.size === 0) return;
    const left = cells.filter((cell) => !gone.has(cell));
    cells.length = 0;
    for (const cell of left) cells.push(cell);
  }

  return {
    cells,
    cell(labels) {
      const found = find(labels, ownLimit) ?? find(fold(labels), budget);
      if (found !== null) return found;
      const last = lastFold(labels);
      const key = JSON.stringify(last);
      const known = byLabels.get(key);
      return known === undefined ? open(key, last) : used(known);
    },
    use(cell) {
      const entry = entryOf.get(cell);
      if (entry !== undefined) used(entry);
    },
    has: (cell) => entryOf.has(cell),
    drop: (isGone) => remove(({ labels }) => isGone(labels)),
    begin(at) {
      now = at;
    },
  };
}

interface Entry<Labels, Cell> {
  readonly cell: Cell;
  readonly labels: Labels;
  /** When the cell was last used, seconds since the epoch. */
  usedAt: number;
}

/** The teams that have series of their own, bounded in number. */
interface TeamNames {
  /** The label of a team that is counted now: its own name, or `other`. */
  label(team: string | null): string;
  /** Begins a moment, seconds since the epoch. */
  begin(at: number): void;
}

/**
 * Creates the names of the first `limit` teams. A team keeps its name while something of it is counted at least once an hour.
 * After that, when others need the place, the name is given up, and `forget` receives the labels that were.
 */
export function createTeamNames(limit: number, forget: (labels: ReadonlySet<string>) => void): TeamNames {
  /** When each team was last counted, seconds since the epoch. */
  const named = new Map<string, number>();
  let now = 0;

  function giveBack(): boolean {
    const gone = new Set<string>();
    for (const [label, usedAt] of named) if (usedAt < now - keptUnusedSeconds) gone.add(label);
    for (const label of gone) named.delete(label);
    if (gone.size > 0) forget(gone);
    return gone.size > 0;
  }

  return {
    label(team) {
      const label = labelValue(team ?? "");
      if (label === "") return label;
      if (!named.has(label) && named.size >= limit && !giveBack()) return other;
      named.set(label, now);
      return label;
    },
    begin(at) {
      now = at;
    },
  };
}
