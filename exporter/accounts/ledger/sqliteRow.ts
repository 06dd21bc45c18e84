import type { SQLOutputValue } from "node:sqlite";

/** A row as node:sqlite returns it. */
export type SqliteRow = Readonly<Record<string, SQLOutputValue>>;

/** A column that holds a number. The schema is STRICT, so that anything else is a fault in the statement. */
export function numberIn(row: SqliteRow, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  throw new TypeError(`column ${column} holds ${typeof value}, expected a number`);
}

/** A column that holds a number or NULL; `null` also where a statement has found no row. */
export function numberOrNullIn(row: SqliteRow | undefined, column: string): number | null {
  return row === undefined || row[column] === null ? null : numberIn(row, column);
}

/** A column that holds text. */
export function textIn(row: SqliteRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw new TypeError(`column ${column} holds ${typeof value}, expected text`);
}

/** A column that holds text or NULL. */
export function textOrNullIn(row: SqliteRow, column: string): string | null {
  return row[column] === null ? null : textIn(row, column);
}

/** Rows that node:sqlite returns as arrays (`setReturnArrays`): for statements with millions of rows. */
export type SqliteCells = Readonly<Record<number, SQLOutputValue>>;

/** The number at an index of such a row. */
export function numberAt(row: SqliteCells, place: number): number {
  const value = row[place];
  if (typeof value === "number") return value;
  throw new TypeError(`column ${place} holds ${typeof value}, expected a number`);
}

/** The number at an index of such a row, or NULL. */
export function numberOrNullAt(row: SqliteCells, place: number): number | null {
  return row[place] === null ? null : numberAt(row, place);
}
