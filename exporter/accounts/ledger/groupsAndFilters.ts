import { isoDay, isoTime } from "../../kernel/isoTime.ts";
import { secondsPerDay, secondsPerHour } from "./schema.ts";
import { numberIn, type SqliteRow, textIn } from "./sqliteRow.ts";

/** Part of a statement, and the values of its parameters. */
export interface FilterCondition {
  readonly condition: string;
  readonly values: readonly string[];
}

/**
 * A condition that is true for rows that every filter allows. `null` among the values of a filter allows rows without a value.
 * `columnOf` returns columns that are in the code: text from the question never becomes part of a statement.
 */
export function filterCondition<Filter extends string>(
  where: ReadonlyMap<Filter, readonly (string | null)[]>,
  columnOf: (filter: Filter) => string,
): FilterCondition {
  const parts = ["1"];
  const values: string[] = [];
  for (const [filter, allowed] of where) {
    const column = columnOf(filter);
    const texts = allowed.filter((value) => value !== null);
    const none = allowed.includes(null) ? ` OR ${column} IS NULL` : "";
    parts.push(`(${column} IN (${texts.map(() => "?").join(", ")})${none})`);
    values.push(...texts);
  }
  return { condition: parts.join(" AND "), values };
}

/** The value of a group in this column, where days and hours since the epoch become dates and times; `null` means "none". */
export function groupValue(row: SqliteRow, column: string, dimension: string): string | null {
  if (row[column] === null) return null;
  if (dimension === "day") return isoDay(numberIn(row, column) * secondsPerDay);
  if (dimension === "hour") return isoTime(numberIn(row, column) * secondsPerHour);
  return textIn(row, column);
}
