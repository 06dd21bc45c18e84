/**
 * Counts events. An event whose label set appeared together with it is counted when the next moment begins, once the series was
 * shown without it: otherwise `increase` would miss it.
 */
export interface OnceShown {
  /** A moment begins: what was shown without its events since the last one gets them. */
  begin(): void;
  /** Counts an event in the cell of a table that `find` gives, now or when it was shown. */
  count<Cell extends object>(
    table: { readonly cells: readonly Cell[] },
    find: () => Cell,
    event: (cell: Cell) => void,
  ): void;
}

/** Nothing was counted yet. */
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
