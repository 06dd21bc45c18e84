import { signals } from "./dialects.ts";
import { type ValueFault, valueFault } from "./sanitise.ts";
import type { KnownMetric } from "./vocabulary.ts";

/** Number of values in one row of `Columns`. */
export const rowWidth = signals.length;

/**
 * The largest valid value of each row and signal, in the units of `DeviceReading`; `NaN` where there is none. The value of a
 * signal in row `r` is at `r * rowWidth + column`.
 */
export interface Columns {
  values: Float64Array;
}

/** Makes columns with this many rows and no values. */
export function createColumns(rows: number): Columns {
  return { values: new Float64Array(rows * rowWidth).fill(Number.NaN) };
}

/** Makes room for row `row`. */
export function growColumns(columns: Columns, row: number): void {
  if ((row + 1) * rowWidth <= columns.values.length) return;
  const { values } = createColumns(2 * (row + 1));
  values.set(columns.values);
  columns.values = values;
}

/** Forgets all values, and makes room for `rows` rows. */
export function clearColumns(columns: Columns, rows: number): void {
  if (rows * rowWidth > columns.values.length) columns.values = createColumns(rows).values;
  else columns.values.fill(Number.NaN, 0, rows * rowWidth);
}

/**
 * Takes in a value in the exporter's unit; the largest valid value of a row and signal is kept. Returns why the value is not
 * used, or `duplicate` where the row had a valid one before.
 */
export function addValue(
  columns: Columns,
  row: number,
  metric: KnownMetric,
  raw: number,
): ValueFault | "duplicate" | null {
  if (!(raw >= 0 && raw <= metric.surelyValidUpTo)) {
    const fault = valueFault(metric.quantity, raw, metric.sentinels);
    if (fault !== null) return fault;
  }
  // Adding 0 turns -0 into 0, so that no sign of a zero depends on the order of the rows.
  const value = raw / metric.divisor + 0;
  const at = row * rowWidth + metric.column;
  const known = columns.values[at] ?? Number.NaN;
  if (Number.isNaN(known)) {
    columns.values[at] = value;
    return null;
  }
  if (value > known) columns.values[at] = value;
  return "duplicate";
}

/** The largest value of a signal over some rows; `NaN` if none has a value. */
export function largestOf(values: Float64Array, rows: readonly number[], column: number): number {
  let largest = Number.NaN;
  for (const row of rows) {
    const value = values[row * rowWidth + column] ?? Number.NaN;
    if (!(value <= largest) && !Number.isNaN(value)) largest = value;
  }
  return largest;
}
