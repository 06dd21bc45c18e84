import type { DatabaseSync } from "node:sqlite";
import type { TuplePart } from "../../kernel/tupleInterner.ts";
import { numberIn } from "./sqliteRow.ts";
import { type Dimension, dimensions, placesFor } from "./tables.ts";

/** Ids of the rows of a dimension table. */
export interface DimensionIds {
  /** The id of a tuple that is in use on that day (days since the epoch); adds a row if there is none. */
  idOf(tuple: readonly TuplePart[], day: number): number;
  /** Whether `idOf` would find a row. */
  knows(tuple: readonly TuplePart[]): boolean;
  /** Forgets what was looked up, after a transaction was rolled back. */
  reload(): void;
}

/** The most tuples that are known; if there are more, those of earlier days are forgotten. */
const maxKnown = 200_000;

/**
 * Keeps ids by content in memory, so that the tables need no second index, which for workloads would be larger than the first.
 * A tuple that was not in use lately gets a second row. This is never visible, because queries group by content.
 */
export function createDimensionIds(db: DatabaseSync, table: Dimension): DimensionIds {
  const columns = dimensions[table];
  const known = new Map<string, { readonly id: number; lastDay: number }>();
  const names = columns.join(", ");
  const insert = db.prepare(`INSERT INTO ${table} (${names}, last_day) VALUES (${placesFor(columns)}, ?)`);
  const touch = db.prepare(`UPDATE ${table} SET last_day = ? WHERE id = ?`);
  const recent = db.prepare(
    `SELECT id, ${names}, last_day FROM ${table} WHERE last_day >= (SELECT max(last_day) - 1 FROM ${table}) ORDER BY id DESC LIMIT ${maxKnown}`,
  );

  function reload(): void {
    known.clear();
    for (const row of recent.iterate()) {
      const key = JSON.stringify(columns.map((column) => row[column]));
      if (!known.has(key)) known.set(key, { id: numberIn(row, "id"), lastDay: numberIn(row, "last_day") });
    }
  }

  function forgetBefore(day: number): void {
    for (const [key, entry] of known) if (entry.lastDay < day) known.delete(key);
    if (known.size > maxKnown) known.clear();
  }

  reload();
  let newestDay = 0;
  return {
    reload,
    knows: (tuple) => known.has(JSON.stringify(tuple)),
    idOf(tuple, day) {
      if (day > newestDay) {
        newestDay = day;
        forgetBefore(day - 1);
      }
      const key = JSON.stringify(tuple);
      const entry = known.get(key);
      if (entry === undefined) {
        const id = Number(insert.run(...tuple, day).lastInsertRowid);
        if (known.size > maxKnown) forgetBefore(day);
        known.set(key, { id, lastDay: day });
        return id;
      }
      if (day > entry.lastDay) {
        touch.run(day, entry.id);
        entry.lastDay = day;
      }
      return entry.id;
    },
  };
}
