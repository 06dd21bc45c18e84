/**
 * Counts events. An event whose label set appeared together with it is counted when the next moment begins, once the series was
 * shown without the event: otherwise `increase` would miss it.
 */
export interface OnceShown {
  /** Begins a moment: series that were shown without their events since the last one get them now. */
  begin(): void;
  /** Counts an event in the cell of a table that `find` returns, either now or after the cell was shown. */
  count<Cell extends object>(
    table: { readonly cells: readonly Cell[] },
    find: () => Cell,
    event: (cell: Cell) => void,
  ): void;
}

/** Creates a counter of events that has counted nothing yet. */
export function createOnceShown(): OnceShown {
  const later: (() => void)[] = [];
  const fresh = new Set<object>();
  return {
    begin() {
      for (const event of later.splice(0)) event();
      fresh.clear();
    },
    count(table, find, event) {
      const before = table.cells.length;
      const cell = find();
      if (table.cells.length > before) fresh.add(cell);
      if (fresh.has(cell)) later.push(() => event(cell));
      else event(cell);
    },
  };
}
