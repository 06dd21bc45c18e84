import type { SQLOutputValue } from "node:sqlite";

/** A row as node:sqlite returns it. */
export type SqliteRow = Readonly<Record<string, SQLOutputValue>>;

/** The number in a column. The schema is STRICT, so that anything else is a fault in the statement, and throws. */
export function numberIn(row: SqliteRow, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  throw new TypeError(`column ${column} holds ${typeof value}, expected a number`);
}

/** The number in a column, or `null` for NULL; also `null` where a statement has found no row. */
export function numberOrNullIn(row: SqliteRow | undefined, column: string): number | null {
  return row === undefined || row[column] === null ? null : numberIn(row, column);
}

/** The text in a column; throws for anything else. */
export function textIn(row: SqliteRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw new TypeError(`column ${column} holds ${typeof value}, expected text`);
}

/** The text in a column, or `null` for NULL. */
export function textOrNullIn(row: SqliteRow, column: string): string | null {
  return row[column] === null ? null : textIn(row, column);
}

/** A row that node:sqlite returns as an array (`setReturnArrays`), for statements with millions of rows. */
export type SqliteCells = Readonly<Record<number, SQLOutputValue>>;

/** The number at an index of such a row. */
export function numberAt(row: SqliteCells, place: number): number {
  const value = row[place];
  if (typeof value === "number") return value;
  throw new TypeError(`column ${place} holds ${typeof value}, expected a number`);
}

/** The number at an index of such a row, or `null` for NULL. */
export function numberOrNullAt(row: SqliteCells, place: number): number | null {
  return row[place] === null ? null : numberAt(row, place);
}
