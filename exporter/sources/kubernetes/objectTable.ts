import { sameData } from "../../kernel/sameData.ts";

/** The cache of one kind, keyed by uid. */
export interface ObjectTable<Row> {
  readonly size: number;
  /** A number that grows with every change, so that a reader can keep what it derived from the rows. */
  readonly revision: number;
  put(uid: string, row: Row): void;
  remove(uid: string): void;
  /** Starts to collect a whole new content beside the present one, which stays until `commit`. */
  startReplacement(): Replacement<Row>;
}

export interface Replacement<Row> {
  add(uid: string, row: Row): void;
  /** Replaces everything that was in the table, in one step. */
  commit(): void;
}

export interface RowTable<Row> extends ObjectTable<Row> {
  /** All rows; the same array until something changes. */
  rows(): readonly Row[];
}

/** Called with a row that is new or differs from the one before; `before` is absent for a new object. */
export type ObserveRow<Row> = (before: Row | undefined, row: Row) => void;

/**
 * A table that keeps its rows as they are. A row that equals the one before is not taken: what was read from an object stays
 * identical until something that Fairlead reads of it changes, even when all objects are listed anew. `observe` is called
 * before a row is taken, and again if a list is begun anew.
 */
export function createRowTable<Row>(observe?: ObserveRow<Row>): RowTable<Row> {
  let byUid = new Map<string, Row>();
  let revision = 0;
  let cached: { readonly revision: number; readonly rows: readonly Row[] } = { revision: 0, rows: [] };
  return {
    get size() {
      return byUid.size;
    },
    get revision() {
      return revision;
    },
    put: (uid, row) => {
      const before = byUid.get(uid);
      if (before !== undefined && sameData(before, row)) return;
      observe?.(before, row);
      byUid.set(uid, row);
      revision += 1;
    },
    remove: (uid) => {
      if (byUid.delete(uid)) revision += 1;
    },
    startReplacement: () => {
      const fresh = new Map<string, Row>();
      return {
        add: (uid, row) => {
          const before = byUid.get(uid);
          const isSame = before !== undefined && sameData(before, row);
          if (!isSame) observe?.(before, row);
          fresh.set(uid, isSame ? before : row);
        },
        commit: () => {
          if (isSameContent(fresh, byUid)) return;
          byUid = fresh;
          revision += 1;
        },
      };
    },
    rows: () => {
      if (cached.revision !== revision) cached = { revision, rows: [...byUid.values()] };
      return cached.rows;
    },
  };
}

function isSameContent<Row>(fresh: ReadonlyMap<string, Row>, present: ReadonlyMap<string, Row>): boolean {
  if (fresh.size !== present.size) return false;
  for (const [uid, row] of fresh) if (present.get(uid) !== row) return false;
  return true;
}
